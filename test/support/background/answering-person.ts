import type { PersonAnswer, PersonChannel, Question } from "../../../src/plugin/person-port.ts"

/** Somebody who answers the same to everything, or turns it down, and remembers what they were asked. */
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
