import type { Screen } from "../screen/screen.ts"
import { describeAnswers, formatHint } from "../question/answer-hint.ts"
import { type PersonChannel, type Question, readAnswer, WITHDRAWN } from "../question/read-answer.ts"
import { plain } from "../format/format.ts"
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
}

/** `onChange` is called when a question opens or closes: lines that are typed from then on have another meaning. */
export function createQuestionPrompt(screen: Screen, onChange: (isOpen: boolean) => void): QuestionPrompt {
  const waiting: Asked[] = []
  let isClosed = false

  const print = (question: Question): void => screen.print(formatPersonQuestion(question, screen.style))

  function show(): void {
    if (isClosed) return
    const [asked] = waiting
    onChange(asked !== undefined)
    if (asked) print(asked.question)
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
      if (waiting[0]?.question === question) print(question)
    },
    take(line) {
      const [asked] = waiting
      if (!asked) return
      const value = readAnswer(asked.question, line)
      if (value === undefined) screen.print(`Answer with ${describeAnswers(asked.question)}.`)
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

/** Puts the detail first, so that it stands above the question about it. */
function formatPersonQuestion(question: Question, style: Style): string {
  const { text, detail, options = [] } = question
  const lines = [
    ...(detail === undefined ? [] : plain(detail).split("\n")).map((line) => paintDiff(`  ${line}`, style)),
    style.bold(plain(text)),
    ...options.map((option, index) => `  ${index + 1}) ${plain(option)}`),
    style.dim(`  ${formatHint(question)}`),
  ]
  return lines.join("\n")
}

function paintDiff(line: string, style: Style): string {
  if (/^ {2}\+(?!\+\+)/.test(line)) return style.green(line)
  return /^ {2}-(?!--)/.test(line) ? style.red(line) : style.dim(line)
}
