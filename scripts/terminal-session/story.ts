import { type DrivenProgram, type ProgramPlace, startProgram } from "./driven-program.ts"
import { untilIdle } from "./idle-program.ts"
import { type Durations, toNormalText } from "./normal-text.ts"

const SETTING = "MEANWHILE_BACKGROUND_THRESHOLD_SECONDS"

const DURATIONS: Durations = [
  [/moved to the background/, "1.0 s"],
  [/completed in .*: sleep 6/, "6.0 s"],
  [/completed in .*: sleep 1/, "1.0 s"],
  [/completed in .*: sleep 3/, "3.0 s"],
  [/completed in .*: sleep 5/, "5.0 s"],
  [/completed in .*: until/, "4.0 s"],
]

/**
 * Records a session that shows what the program is about, as a real terminal shows it, with the same text at each recording: a
 * slow command moves to the background, the talk goes on, three tasks report as one, one is cancelled, a person is asked, a crash loses nothing.
 */
export async function recordSession(place: ProgramPlace): Promise<string> {
  const settled = { ...place, environment: { [SETTING]: "1", ...place.environment } }
  const first = await withProgram([], settled, talk)
  const second = await withProgram(["--resume"], settled, goOn)
  const lines = [`$ ${SETTING}=1 meanwhile`, ...first, "Killed", `$ ${SETTING}=1 meanwhile --resume`, ...second]
  return toNormalText(lines, DURATIONS).replaceAll(place.directory, "/home/me/project")
}

type Scene = (program: DrivenProgram, place: ProgramPlace) => Promise<void>

/** Returns what the program has shown at the end of the scene. A scene that fails leaves no program running. */
async function withProgram(words: readonly string[], place: ProgramPlace, play: Scene): Promise<readonly string[]> {
  const program = startProgram(words, place)
  try {
    await play(program, place)
    return withoutPrompt(program.lines())
  } catch (error) {
    await program.kill()
    throw error
  }
}

const talk: Scene = async (program, place) => {
  const say = async (line: string, shown: RegExp): Promise<RegExpExecArray> => {
    program.type(line)
    const match = await program.shows(shown)
    await untilIdle(place)
    return match
  }
  await program.shows(/Say: help/)
  // At once: the talk goes on while the command runs.
  program.type("run `sleep 6`")
  await program.shows(/moved to the background[^]*tokens/)
  await say("say the talk goes on", /^the talk goes on$[^]*\(about task [^]*tokens/m)
  const together = "run `sleep 1`, `sleep 3` and `sleep 5` together as checks"
  await say(together, /\(about group [^]*tokens/)
  const [, id = ""] = await say("start `sleep 1000` in the background", /started (\w{8}): sleep 1000[^]*tokens/)
  await say(`/cancel ${id}`, /\(about task [^]*tokens/)
  program.type("run `until test -e done.txt; do sleep 1; done; cat done.txt`")
  await program.shows(/Ctrl\+C declines(?=[^]*^\?$)/m)
  await say("y", /moved to the background[^]*tokens/)
  await program.kill()
}

const goOn: Scene = async (program, place) => {
  await program.shows(/see \/tasks/)
  program.type("/run echo all went well > done.txt")
  await program.shows(/\(about task [^]*tokens/)
  await untilIdle(place)
  program.type("/quit")
  await program.ended()
}

/** Leaves out the last prompt, on which nothing was typed, and the empty lines around it. */
function withoutPrompt(lines: readonly string[]): readonly string[] {
  const last = lines.findLastIndex((line) => line.trim() !== "" && line.trim() !== ">")
  return lines.slice(0, last + 1)
}
