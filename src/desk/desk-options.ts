import { MeanwhileError } from "../base/error.ts"
import { DEFAULT_WORKSPACE, type WorkspaceId } from "../task/id.ts"

export interface DeskOptions {
  readonly workspace: string
  /** A label for the person or program that acts. It is stored with an answer and grants nothing. */
  readonly actor: string
}

/** Both as every part of a desk has them. */
export interface DeskOwner extends DeskOptions {
  readonly workspace: WorkspaceId
}

/** The one person who uses a program that has no tenants. */
export const LOCAL_PERSON: DeskOwner = { workspace: DEFAULT_WORKSPACE, actor: "person" }

/** Refused as `invalid_input` unless both are texts that are not empty. */
export function toDeskOwner({ workspace, actor }: DeskOptions): DeskOwner {
  requireLabel("workspace", workspace)
  requireLabel("actor", actor)
  return { workspace: workspace as WorkspaceId, actor }
}

function requireLabel(field: "workspace" | "actor", label: unknown): void {
  if (typeof label === "string" && label.trim() !== "") return
  throw new MeanwhileError("invalid_input", `A desk needs \`${field}\`: a text that is not empty.`, { field })
}
