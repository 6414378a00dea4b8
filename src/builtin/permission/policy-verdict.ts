import type { Effect } from "../../plugin/effect.ts"
import type { PermissionPolicy, PermissionRule } from "./permission-policy.ts"

export interface CallParts {
  /** Mostly the call itself alone. Of one that cannot be read for certain, parts may be missing. */
  readonly parts: readonly unknown[]
  /**
   * `call`: its input is all there is. `plain`: a command, and the first part is all of it. `complex`: a command that may
   * be anything. No pattern for the input allows that.
   */
  readonly form: "call" | "plain" | "complex"
}

/** All that a policy looks at. */
export interface CallFacts extends CallParts {
  readonly plugin: string
  readonly tool: string
  readonly input: unknown
  readonly effects: readonly Effect[]
  /** True if a person allowed the call for the session. */
  readonly isGranted: boolean
  /** True if its plugin says that it needs no permission. */
  readonly isAutoApproved: boolean
}

export type Verdict =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly reason: string }
  /** `reason` is the rule's, if a rule wants it. */
  | { readonly decision: "ask"; readonly reason?: string }

const ALLOW: Verdict = { decision: "allow" }

/**
 * The first that applies decides: a deny rule, a grant of the session, an ask rule, an allow rule, the plugin's own
 * list of harmless tools, and last the mode by the effects.
 */
export function judgeCall(policy: PermissionPolicy, facts: CallFacts): Verdict {
  const find = (decision: PermissionRule["decision"]) =>
    policy.rules.find((rule) => rule.decision === decision && applies(rule, facts))
  const denied = find("deny")
  if (denied) return { decision: "deny", reason: denied.reason ?? `a rule of the policy denies ${describe(denied)}` }
  if (facts.isGranted) return ALLOW
  const asked = find("ask")
  if (asked) return { decision: "ask", ...(asked.reason !== undefined && { reason: asked.reason }) }
  if (find("allow") || facts.isAutoApproved || facts.effects.length === 0) return ALLOW
  return judgeByMode(policy.mode, facts.effects)
}

function judgeByMode(mode: PermissionPolicy["mode"], effects: readonly Effect[]): Verdict {
  switch (mode) {
    case "allow_all":
      return ALLOW
    case "deny_effects":
      return { decision: "deny", reason: `the policy allows no effects, and this call has: ${effects.join(", ")}` }
    case "default":
      return { decision: "ask" }
  }
}

function applies(rule: PermissionRule, facts: CallFacts): boolean {
  return (
    matchesGlob(rule.tool, facts.tool) &&
    matchesGlob(rule.plugin ?? "*", facts.plugin) &&
    appliesToEffects(rule, facts.effects) &&
    appliesToInput(rule, facts)
  )
}

/** A part is enough to refuse or ask; to allow, the whole must fit, in the words of the caller or as its first part has it. */
function appliesToInput(rule: PermissionRule, { input, parts, form }: CallFacts): boolean {
  if (rule.match === undefined && rule.arguments === undefined) return true
  if (rule.decision !== "allow") return [input, ...parts].some((each) => fits(rule, each))
  return form !== "complex" && [input, ...parts.slice(0, 1)].some((each) => fits(rule, each))
}

function fits({ match, arguments: fields = {} }: PermissionRule, input: unknown): boolean {
  return (
    (match === undefined || matchesGlob(match, toText(input))) &&
    Object.entries(fields).every(([path, pattern]) => {
      const value = valueAt(input, path)
      return value !== undefined && matchesGlob(pattern, toText(value))
    })
  )
}

function appliesToEffects({ effects, decision }: PermissionRule, ofCall: readonly Effect[]): boolean {
  if (!effects) return true
  return decision === "allow"
    ? ofCall.every((effect) => effects.includes(effect))
    : ofCall.some((effect) => effects.includes(effect))
}

function valueAt(input: unknown, path: string): unknown {
  let value = input
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}

/** A rule in one line. */
export function describe({ tool, plugin, arguments: fields = {}, match, effects }: PermissionRule): string {
  return [
    plugin === undefined ? tool : `${plugin}/${tool}`,
    ...Object.entries(fields).map(([path, pattern]) => `with ${path} ${JSON.stringify(pattern)}`),
    ...(match === undefined ? [] : [`with input ${JSON.stringify(match)}`]),
    ...(effects ? [`with effects ${effects.join(", ") || "none"}`] : []),
  ].join(" ")
}

/**
 * `*` is any run of characters, `?` any one; everything else stands for itself. Takes at most text times pattern steps,
 * whatever the pattern, since a model writes one of the two.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0
  let inText = 0
  let star = -1
  let starText = 0
  while (inText < text.length) {
    const wanted = pattern[inPattern]
    if (wanted === "*") {
      star = inPattern++
      starText = inText
    } else if (wanted === "?" || wanted === text[inText]) {
      inPattern++
      inText++
    } else if (star >= 0) {
      inPattern = star + 1
      inText = ++starText
    } else return false
  }
  while (pattern[inPattern] === "*") inPattern++
  return inPattern === pattern.length
}
