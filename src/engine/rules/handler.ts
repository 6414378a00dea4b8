import type { OperationName, OperationOf } from "../../task/operation.ts"
import type { AnswerOf } from "../../task/operation-answer.ts"
import type { Change } from "./change.ts"

/** One handler per operation, each in the file of its family. */
export type Handlers = {
  readonly [Name in OperationName]: (operation: OperationOf<Name>, change: Change) => AnswerOf<Name>
}
