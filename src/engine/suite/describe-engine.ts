import { describe } from "vitest"
import { describeClaims } from "./describe-claims.ts"
import { describeCommits } from "./describe-commits.ts"
import { describeConsumption } from "./describe-consumption.ts"
import { describeCreation } from "./describe-creation.ts"
import { describeDocuments } from "./describe-documents.ts"
import { describeEvents } from "./describe-events.ts"
import { describeFacts } from "./describe-facts.ts"
import { describeFolders } from "./describe-folders.ts"
import { describeGroups } from "./describe-groups.ts"
import { describeJoins } from "./describe-joins.ts"
import { describeLaterRuns } from "./describe-later-runs.ts"
import { describeLeases } from "./describe-leases.ts"
import { describeLists } from "./describe-lists.ts"
import { describeModel } from "./describe-model.ts"
import { describeNotices } from "./describe-notices.ts"
import { describeQueue } from "./describe-queue.ts"
import { describeRuns } from "./describe-runs.ts"
import { describeSessionLists } from "./describe-session-lists.ts"
import { describeSessions } from "./describe-sessions.ts"
import { describeSteps } from "./describe-steps.ts"
import { describeTime } from "./describe-time.ts"
import { describeTrees } from "./describe-trees.ts"
import { describeUpkeep } from "./describe-upkeep.ts"
import { describeWaits } from "./describe-waits.ts"
import { describeWorkers } from "./describe-workers.ts"
import { describeWorkspaces } from "./describe-workspaces.ts"
import { createEngineTest, type EngineFactory } from "./subject.ts"

/**
 * What every engine promises, as tests. They assume neither a single process nor synchronous answers nor a clock that
 * can be set: time passes by itself, and the tests wait for what must happen.
 */
export function describeEngine(name: string, factory: EngineFactory): void {
  const test = createEngineTest(factory)
  describe(`the ${name} engine`, () => {
    describeCommits(test)
    describeCreation(test)
    describeTime(test)
    describeRuns(test)
    describeFacts(test)
    describeLaterRuns(test)
    describeUpkeep(test)
    describeSteps(test)
    describeNotices(test)
    describeConsumption(test)
    describeClaims(test)
    describeGroups(test)
    describeJoins(test)
    describeWaits(test)
    describeTrees(test)
    describeLeases(test)
    describeSessions(test)
    describeSessionLists(test)
    describeDocuments(test)
    describeWorkspaces(test)
    describeLists(test)
    describeQueue(test)
    describeFolders(test)
    describeWorkers(test)
    describeEvents(test)
    describeModel(test)
  })
}
