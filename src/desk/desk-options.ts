import { DEFAULT_WORKSPACE, type WorkspaceId } from "../task/id.ts"

/** The owner of a desk. */
export interface DeskOptions {
  readonly workspace: WorkspaceId
  /** A label for whoever acts: it is written down with an answer. It grants nothing. */
  readonly actor: string
}

/** The one person who uses a program that has no tenants. */
export const LOCAL_PERSON: DeskOptions = { workspace: DEFAULT_WORKSPACE, actor: "person" }
