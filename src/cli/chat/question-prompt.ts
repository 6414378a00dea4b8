import type { Screen } from "../screen/screen.ts"
import { describeAnswers, formatHeldHint, formatHint, formatLength, roomForAsked } from "../question/answer-hint.ts"
import { toAskedRows, toDetailRows, toTextRows } from "../question/asked-rows.ts"
import { NO_BECAUSE, type PersonChannel, type Question, readAnswer, WITHDRAWN } from "../question/read-answer.ts"
import { countOf, toLine } from "../format/format.ts"
import type { Style } from "../screen/style.ts"

type Answer = Awaited<ReturnType<PersonChannel["ask"]>>

/** Asks the person at the prompt, one question at a time. */
export interface QuestionPrompt {
  readonly channel: PersonChannel
  /** The open question; undefined if none is open. */
  current(): Question | undefined
  /** Shows the question once more, if it is still the open one. */
  repeat(question: Question): void
  /** Takes the line as an answer to the open question. */
  take(line: string): void
  /** Declines the open question. False if none is open. */
  decline(): boolean
  /** Shows nothing from now on, and takes no answer: what is asked stays open until those who asked withdraw it. */
  close(): void
}

interface Asked {
  readonly question: Question
  readonly settle: (answer: Answer) => void
  /**
   * `held`: only the two ends of what is asked were shown, as the screen has no room for all of it, and nobody can say yes.
   * `asked_for`: the person wants to see all.
   */
  view: "whole" | "held" | "asked_for"
}

/** `onChange` is called when a question opens or closes: lines that are typed from then on have another meaning. */
export function createQuestionPrompt(screen: Screen, onChange: (isOpen: boolean) => void): QuestionPrompt {
  const waiting: Asked[] = []
  let isClosed = false

  function print(asked: Asked): void {
    const { question } = asked
    if (asked.view !== "asked_for") asked.view = fits(question, screen) ? "whole" : "held"
    screen.print((asked.view === "held" ? formatHeld : formatWhole)(question, screen))
  }

  function show(): void {
    if (isClosed) return
    const [asked] = waiting
    onChange(asked !== undefined)
    if (asked) print(asked)
  }

  function close(asked: Asked, answer: Answer): void {
    const index = waiting.indexOf(asked)
    if (index < 0) return
    waiting.splice(index, 1)
    asked.settle(answer)
    if (index === 0) show()
  }

  return {
    channel: {
      name: "terminal",
      ask(question, signal) {
        return new Promise((resolve) => {
          const withdraw = (): void => {
            if (waiting[0] === asked && !isClosed) screen.print(screen.style.dim("(the question was withdrawn)"))
            close(asked, WITHDRAWN)
          }
          const asked: Asked = {
            question,
            view: "whole",
            settle(answer) {
              signal.removeEventListener("abort", withdraw)
              resolve(answer)
            },
          }
          if (signal.aborted) return resolve(WITHDRAWN)
          signal.addEventListener("abort", withdraw, { once: true })
          waiting.push(asked)
          if (waiting.length === 1) show()
        })
      },
    },
    current: () => waiting[0]?.question,
    repeat(question) {
      const [asked] = waiting
      if (asked?.question === question) print(asked)
    },
    take(line) {
      const [asked] = waiting
      if (!asked) return
      const isHeld = asked.view === "held"
      if (isHeld && SHOW.test(line.trim())) {
        asked.view = "asked_for"
        return print(asked)
      }
      const value = readAnswer(asked.question, line)
      if (isHeld && !isNo(value)) screen.print("Answer with n, or see all of it first, with s.")
      else if (value === undefined) screen.print(`Answer with ${describeAnswers(asked.question)}.`)
      else close(asked, { isAnswered: true, value, by: "person" })
    },
    decline() {
      const [asked] = waiting
      if (!asked) return false
      screen.print(screen.style.dim("(declined)"))
      close(asked, { isAnswered: false, reason: "the person declined to answer" })
      return true
    },
    close: () => void (isClosed = true),
  }
}

const SHOW = /^s(how)?( all)?$/i

const isNo = (value: string | undefined): boolean => value !== undefined && (value === "no" || NO_BECAUSE.test(value))

type QuestionScreen = Pick<Screen, "columns" | "rows" | "style">

/** Nobody says yes at a glance to what the screen cannot show at once. Other answers allow nothing. */
function fits(question: Question, screen: QuestionScreen): boolean {
  const { kind, isPermission = false } = question
  if (!Number.isFinite(screen.columns) || (kind !== "approval" && !isPermission)) return true
  return toDetailRows(question, screen.columns).length <= roomForAsked(screen)
}

/** Puts the detail first, so that it stands above the question about it. */
function formatWhole(question: Question, screen: QuestionScreen): string {
  const { style, columns } = screen
  const rows = toDetailRows(question, columns)
  const options = (question.options ?? []).map((option, index) => `${index + 1}) ${toLine(option)}`)
  return [
    ...rows.map((row) => paintDiff(row, style)),
    ...toTextRows(question, columns).map(style.bold),
    ...options.flatMap((option) => toAskedRows(option, columns)),
    ...formatLength(rows.length, screen).map(style.dim),
    ...toAskedRows(formatHint(question), columns).map(style.dim),
  ].join("\n")
}

/** Shows the two ends of what is asked. */
function formatHeld(question: Question, screen: QuestionScreen): string {
  const { style, columns } = screen
  const rows = toDetailRows(question, columns)
  const ends = Math.floor(roomForAsked(screen) / 2)
  const left = `  … ${countOf(rows.length - 2 * ends, "line")} between are not shown`
  return [
    ...rows.slice(0, ends).map((row) => paintDiff(row, style)),
    style.bold(left),
    ...rows.slice(-ends).map((row) => paintDiff(row, style)),
    ...toTextRows(question, columns).map(style.bold),
    style.dim(`  ${formatHeldHint(rows.length)}`),
  ].join("\n")
}

function paintDiff(row: string, style: Style): string {
  if (/^ {2}│ \+(?!\+\+)/.test(row)) return style.green(row)
  return /^ {2}│ -(?!--)/.test(row) ? style.red(row) : style.dim(row)
}
