import { MeanwhileError } from "../../base/error.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { Profile } from "./profile.ts"
import { type FoundProfiles, readProfileFolder } from "./profile-folder.ts"

export type ProfileCollection = ReturnType<typeof createProfileCollection>

/** All profiles: the given ones, then those of the folders, as their files are now. */
export function createProfileCollection(given: readonly Profile[], folders: readonly string[]) {
  /** The first of two profiles with one name counts; the second is listed as a problem. */
  async function load(): Promise<FoundProfiles> {
    const found = await Promise.all(folders.map(readProfileFolder))
    const byName = new Map<string, Profile>()
    const problems = found.flatMap((each) => each.problems)
    for (const profile of [...given, ...found.flatMap((each) => each.profiles)]) {
      if (byName.has(profile.name)) problems.push(`there is a second profile named ${profile.name}; the first counts`)
      else byName.set(profile.name, profile)
    }
    return { profiles: [...byName.values()], problems }
  }
  return {
    load,
    /** Refused with near names if there is no such profile. */
    async get(name: string): Promise<Profile> {
      const { profiles, problems } = await load()
      const found = profiles.find((profile) => profile.name === name)
      if (found) return found
      const names = profiles.map((profile) => profile.name)
      const near = findNearNames(name, names)
      const broken = problems.length > 0 ? ` Some cannot be used: ${problems.join("; ")}.` : ""
      const message = `There is no profile ${JSON.stringify(name)}. ${toHint(near, names)}${broken}`
      throw new MeanwhileError("not_found", message, { near })
    },
  }
}

function toHint(near: readonly string[], names: readonly string[]): string {
  if (near.length > 0) return `Did you mean ${near.join(", ")}?`
  if (names.length > 0) return `There are ${names.join(", ")}.`
  return "There is none: leave `profile` out."
}
