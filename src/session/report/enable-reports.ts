import type { Session } from "../conversation/session.ts"
import type { ReportOptions } from "../conversation/report-request.ts"

/** From now on the agent tells by itself what its background tasks came to, by its own turn or by your generator. */
export function enableReports(session: Pick<Session, "enableReports">, options: ReportOptions = {}): void {
  session.enableReports(options)
}
