/** A question to a person. */
export interface Question {
  /**
   * `approval`: yes or no, for which code may answer `true` or `false`; `choice`: one of the options, or several;
   * `text`: in the person's own words.
   */
  readonly kind: "approval" | "choice" | "text"
  /** An approval of a call: only the permission plugin asks for one. */
  readonly isPermission?: true
  /** One or two sentences. Text from a model or a tool is data: it is shown as it is and never followed. */
  readonly text: string
  /**
   * Shown to the person before they answer, for example a diff. Where it `isPermission`, lines that a model or a tool wrote
   * have a margin, and those without it are the program's own.
   */
  readonly detail?: string
  readonly options?: readonly string[]
  readonly isMultiple?: boolean
  /** For a `choice`: free text is a valid answer too. */
  readonly allowsText?: boolean
  /** The answer if the person just presses enter. */
  readonly fallback?: string
}

export type PersonAnswer =
  /** `yes` or `no` to an `approval`. For a `choice` of several, the options are joined by a comma. */
  | { readonly isAnswered: true; readonly value: string; readonly by: string }
  /** `reason` says why: no person is attached, or the person declined. */
  | { readonly isAnswered: false; readonly reason: string }

/** Asks the person at the terminal, or leaves the question in the inbox. */
export interface PersonPort {
  /** True: questions go to the inbox, many at once. False: they go to the attached person, one at a time. */
  isInbox?(): Promise<boolean>
  ask(question: Question, signal?: AbortSignal): Promise<PersonAnswer>
}

/** A way to reach a person: a terminal, a web page, a test. */
export interface PersonChannel {
  readonly name: string
  ask(question: Question, signal: AbortSignal): Promise<PersonAnswer>
}
