import type { PersonAnswer, PersonChannel, Question } from "../../../src/plugin/person-port.ts"

/** A person who gives the same answer to every question (null: declines it), and remembers the questions. */
export function createAnsweringPerson(value: string | null): { person: PersonChannel; questions: readonly Question[] } {
  const questions: Question[] = []
  const answer: PersonAnswer =
    value === null ? { isAnswered: false, reason: "away" } : { isAnswered: true, value, by: "test" }
  const person: PersonChannel = {
    name: "test",
    async ask(question) {
      questions.push(question)
      return answer
    },
  }
  return { person, questions }
}
