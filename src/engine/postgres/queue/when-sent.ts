import type { Query } from "../connection/database.ts"

/** Resolves once `work` has sent its one statement, without waiting for the answer, or has ended without one. */
export function whenSent(query: Query, work: (query: Query) => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    const watched: Query = (statement, values) => {
      resolve()
      return query(statement, values)
    }
    work(watched).then(() => resolve(), reject)
  })
}
