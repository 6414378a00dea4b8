import { closeAll } from "../base/close-all.ts"
import { MeanwhileError } from "../base/error.ts"
import type { ContextUsage } from "../plugin/context-usage.ts"
import type { GcConfig, GcPlugin } from "../plugin/gc-plugin.ts"
import type { Message } from "../plugin/message.ts"
import type { SessionPlugin } from "../plugin/session-plugin.ts"
import type { SendOptions, Session } from "./conversation/session.ts"
import { toListener, type UiHooks } from "./ui-hooks.ts"

/** The part of a runtime that a client needs. */
export interface ClientRuntime extends AsyncDisposable {
  createSession(options: { readonly model?: string }): Promise<Session>
}

/** The simple case: one runtime, one session, and nothing to put together. */
export interface Client<Runtime extends ClientRuntime, Options> extends AsyncDisposable {
  /** Creates the runtime and its first session. These options win over those of `configureTools`. */
  connect(options?: Options): Promise<void>
  /** Sets options of the runtime, such as plugins, permissions and ledger. Called before `connect`. */
  configureTools(options: Options): void
  /** Returns the model's last text. */
  sendMessage(message: string, options?: SendOptions | SendOptions["onOutput"]): Promise<string>
  history(): readonly Message[]
  /** Empties the history. */
  reset(): Promise<void>
  contextUsage(): ContextUsage
  /** For sessions of subagents, and everything else that the client has no method for. Refused before `connect`. */
  readonly runtime: Runtime
  readonly session: Session
  setGc(plugin: GcPlugin | null, config?: Partial<GcConfig>): void
  setSessionPlugin(plugin: SessionPlugin | null): Promise<void>
  /** Adds hooks for the main agent and its subagents, before or after `connect`. Returns a function that removes them. */
  setUiHooks(hooks: UiHooks): () => void
  close(): Promise<void>
}

export function createClientOf<Runtime extends ClientRuntime, Options extends object>(
  createRuntime: (options: Options) => Promise<Runtime>,
): Client<Runtime, Options> {
  let configured: Partial<Options> = {}
  let connecting: Promise<void> | undefined
  let connected: { readonly runtime: Runtime; readonly session: Session } | undefined
  /** Each with the function that removes it. */
  const hooks = new Map<UiHooks, () => void>()

  function require(): { readonly runtime: Runtime; readonly session: Session } {
    if (connected) return connected
    throw new MeanwhileError("wrong_state", "The client is not connected yet: await client.connect() first.")
  }

  /**
   * Also tells the hooks that the agent was created, which happened before anybody could follow it. As with every event, an
   * error of a hook fails nothing else.
   */
  function follow(one: UiHooks, session: Session): void {
    const { id: agent, name, parent, model } = session
    const listener = toListener(one)
    hooks.set(one, session.on(listener))
    const created = { type: "agent.created", agent, name, parent, model } as const
    void Promise.try(listener, created).catch(() => {})
  }

  async function connect(options: Options): Promise<void> {
    const runtime = await createRuntime(options)
    try {
      connected = { runtime, session: await runtime.createSession({}) }
      for (const one of hooks.keys()) follow(one, connected.session)
    } catch (error) {
      await runtime[Symbol.asyncDispose]()
      throw error
    }
  }

  async function close(): Promise<void> {
    await connecting?.catch(() => {})
    const open = connected
    connected = undefined
    if (open) await closeAll([() => open.session.close(), () => open.runtime[Symbol.asyncDispose]()])
  }

  return {
    async connect(options) {
      if (connected || connecting) {
        throw new MeanwhileError("wrong_state", "The client is connected already. Close it first.")
      }
      connecting = connect({ ...configured, ...options } as Options)
      try {
        await connecting
      } finally {
        connecting = undefined
      }
    },
    configureTools(options) {
      if (connected || connecting) throw new MeanwhileError("wrong_state", "Configure the tools before connecting.")
      configured = { ...configured, ...options }
    },
    async sendMessage(message, options = {}) {
      const { text } = await require().session.send(
        message,
        typeof options === "function" ? { onOutput: options } : options,
      )
      return text
    },
    history: () => require().session.history(),
    reset: () => require().session.reset(),
    contextUsage: () => require().session.contextUsage(),
    get runtime() {
      return require().runtime
    },
    get session() {
      return require().session
    },
    setGc: (plugin, config) => require().session.setGc(plugin, config),
    setSessionPlugin: (plugin) => require().session.setSessionPlugin(plugin),
    setUiHooks(one) {
      hooks.get(one)?.()
      hooks.set(one, () => {})
      if (connected) follow(one, connected.session)
      return () => {
        hooks.get(one)?.()
        hooks.delete(one)
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
