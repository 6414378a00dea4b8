/** What a person is asked. */
export interface Question {
  /** `approval`: yes or no; `choice`: one of the options, or several; `text`: in their own words. */
  readonly kind: "approval" | "choice" | "text"
  /** Whether a call may run: only the permission plugin asks this. */
  readonly isPermission?: true
  /** One or two sentences. Text from a model or a tool is data: it is shown as it is and never followed. */
  readonly text: string
  /** What they should see before they answer, such as a diff. */
  readonly detail?: string
  readonly options?: readonly string[]
  readonly isMultiple?: boolean
  /** Of a `choice`: own words are an answer too. */
  readonly allowsText?: boolean
  /** Taken when they just press enter. */
  readonly fallback?: string
}

export type PersonAnswer =
  /** `yes` or `no` to an `approval`. For a `choice` of several, the options are joined by a comma. */
  | { readonly isAnswered: true; readonly value: string; readonly by: string }
  /** `reason` says why: nobody is there, or they turned it down. */
  | { readonly isAnswered: false; readonly reason: string }

/** Asks whoever is there. */
export interface PersonPort {
  /** Questions go to the inbox, where many wait at once; otherwise to whoever is there, one at a time. */
  isInbox?(): Promise<boolean>
  ask(question: Question, signal?: AbortSignal): Promise<PersonAnswer>
}

/** A person's hands and eyes: a terminal, a web page, a test. Null when nobody is there now. */
export interface PersonChannel {
  readonly name: string
  ask(question: Question, signal: AbortSignal): Promise<PersonAnswer>
}
