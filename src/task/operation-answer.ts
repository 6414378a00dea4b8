import type { DocumentRecord } from "./document.ts"
import type { GroupRecord } from "./group.ts"
import type { ArtifactHash } from "./id.ts"
import type { Lease } from "./lease.ts"
import type { NoticeKey } from "./notice.ts"
import type { Operation, OperationName } from "./operation.ts"
import type { TaskRecord } from "./record.ts"
import type { SessionRecord } from "./session.ts"
import type { Step } from "./step.ts"

/** The answer of each operation once it is committed. */
interface OperationAnswers {
  "task.create": { readonly task: TaskRecord; readonly created: boolean }
  "task.apply": TaskRecord
  "task.note": { readonly lastSequence: number; readonly usage: TaskRecord["usage"] }
  "task.begin_run": TaskRecord
  "task.prioritize": TaskRecord
  "task.strip": TaskRecord
  "task.remove": null
  "step.start": Step
  "step.finish": Step
  "notice.claim": readonly NoticeKey[]
  "notice.release": readonly NoticeKey[]
  "notice.consume": readonly NoticeKey[]
  "group.create": GroupRecord
  "group.move": GroupRecord
  "wait.answer": TaskRecord
  "lease.take": Lease
  "lease.renew": Lease
  "lease.release": null
  "session.create": SessionRecord
  "session.update": SessionRecord
  "session.delete": null
  "document.put": DocumentRecord
  "document.delete": null
  "artifact.put": ArtifactHash
}

export type AnswerOf<Name extends OperationName> = OperationAnswers[Name]
export type Answers<Operations extends readonly Operation[]> = {
  readonly [Index in keyof Operations]: AnswerOf<Operations[Index]["op"]>
}
