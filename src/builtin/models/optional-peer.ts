import { MeanwhileError } from "../../base/error.ts"

interface OptionalPeer {
  readonly name: string
  /** The version to install. */
  readonly version: string
  /** What needs it, for the sentence that asks for it. */
  readonly need: string
}

/** Loads a package that a program installs only if it uses it. */
export async function loadPeer<Module>(peer: OptionalPeer, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, peer.name)) throw error
    const { name, version, need } = peer
    const message = `${need} need the package ${name}, which is not installed: npm install ${name}@${version}`
    throw new MeanwhileError("plugin_unavailable", message, { package: name }, { cause: error })
  }
}

/** True if the package itself is not there, and not only something that it needs. */
function isMissing(error: unknown, name: string): boolean {
  const isUnfound = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"
  return isUnfound && (error.message.includes(`'${name}'`) || error.message.includes(`'${name}/`))
}
