import { toErrorMessage } from "../base/error.ts"

/** The result of one check of the doctor. */
export interface Finding {
  readonly check: string
  /** A problem keeps something from working; a warning is good to know. */
  readonly status: "ok" | "warning" | "problem"
  readonly text: string
  /** The remedy. Null if the check found nothing wrong. */
  readonly fix: string | null
}

export const ok = (check: string, text: string): Finding => ({ check, status: "ok", text, fix: null })

export const warning = (check: string, text: string, fix: string): Finding => ({ check, status: "warning", text, fix })

export const problem = (check: string, text: string, fix: string): Finding => ({ check, status: "problem", text, fix })

/** A check that itself fails is a problem, and the others go on. */
export async function findOr(
  check: string,
  fix: string,
  examine: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examine()
  } catch (error) {
    return [problem(check, toErrorMessage(error), fix)]
  }
}
