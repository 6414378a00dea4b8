import { expect, onTestFinished, test } from "vitest"
import { createScenario, type TurnScenario } from "../support/chaos/turn-scenario.ts"
import { countAnswers, createTurnSite, reportsOf, type TurnSite } from "../support/chaos/turn-site.ts"
import type { TurnReport } from "../support/chaos/turn-protocol.ts"
import { openTurnWire } from "../support/chaos/turn-wire.ts"
import { requireNone } from "../support/chaos/seed.ts"
import type { Child } from "../support/chaos/child.ts"
import { eventually } from "../support/eventually.ts"
import { stateOf } from "../support/processes.ts"

/** A program that stands still is missed after this time; one that only waits for the machine is not. */
const LEASE_SECONDS = 4

async function openSite(
  name: string,
  steps: TurnScenario["steps"],
): Promise<{ site: TurnSite; scenario: TurnScenario }> {
  const wire = await openTurnWire()
  const scenario = createScenario(name, steps)
  const site = createTurnSite(wire, scenario)
  onTestFinished(async () => {
    site.remove()
    await wire.close()
  })
  return { site, scenario }
}

/** Tells a program that waits to finish, and checks that it did. */
async function finish(site: TurnSite, child: Child): Promise<void> {
  child.send("finish")
  await site.ended(child)
  expect(child.lines.at(-1), child.lines.join("\n")).toContain("finished")
}

async function isStopped({ process: { pid } }: Child): Promise<void> {
  await eventually("the program stands still", () => pid !== undefined && stateOf(pid) === "T")
}

test("a turn whose program is killed goes on in another program that runs already", async () => {
  const { site, scenario } = await openSite("killed-beside", [["look", "note"], ["build"]])
  const other = site.start({ leaseSeconds: LEASE_SECONDS, waits: true, goesOn: true })
  await other.said("ready")
  const { prompt } = scenario
  const child = site.start({
    prompt,
    leaseSeconds: LEASE_SECONDS,
    atCommit: { number: 3, when: "after", signal: "SIGKILL" },
  })
  await site.ended(child)
  await eventually("the other one goes on", () => site.effects().includes("did 1.build"))
  await eventually("the turn is over", async () => !(await site.isInTurn()))
  await finish(site, other)
  requireNone(await site.findViolations({ crashes: 1, answers: countAnswers(other) }))
})

for (const when of ["before", "after"] as const) {
  for (const number of [2, 3, 4]) {
    test(`a program that stands still ${when} commit ${number} of a turn and comes back acts no second time`, async () => {
      const { site, scenario } = await openSite(`stopped-${when}-${number}`, [["note", "look"], ["note"]])
      const other = site.start({ leaseSeconds: LEASE_SECONDS, waits: true, goesOn: true })
      await other.said("ready")
      const { prompt } = scenario
      const child = site.start({
        prompt,
        leaseSeconds: LEASE_SECONDS,
        waits: true,
        atCommit: { number, when, signal: "SIGSTOP" },
      })
      await isStopped(child)
      await eventually("the other one has ended the turn", async () => {
        const effects = site.effects()
        return effects.includes(`asked ${scenario.story} 2`) && !(await site.isInTurn())
      })
      const before = site.effects()
      child.process.kill("SIGCONT")
      const isTold = (report: TurnReport): boolean => "failed" in report || "ended" in report
      const told = await eventually("it says what became of the turn", () => reportsOf(child).find(isTold))
      expect(told).toMatchObject({ failed: expect.stringContaining("another worker") as string })
      const late = site.effects().slice(before.length)
      expect(late.filter((effect) => effect.startsWith("did"))).toEqual([])
      // A model call whose owner was checked before the standstill may be on its way: no check closes that window.
      expect(late.filter((effect) => effect.startsWith("asked")).length).toBeLessThanOrEqual(1)
      child.send("close")
      await site.ended(child)
      await finish(site, other)
      requireNone(await site.findViolations({ crashes: 1, answers: 0, effects: before }))
    })
  }
}
