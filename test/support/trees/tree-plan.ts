import * as fc from "fast-check"

/** `called`: an agent in the foreground, which has no record. `delayed`: in the queue, and not due for an hour. */
export type NodeKind = "agent" | "called" | "command" | "held" | "asking" | "delayed"

export interface TreeNode {
  readonly name: string
  readonly kind: NodeKind
  readonly livesForever: boolean
  /** In the one group of its parent's tasks. */
  readonly isMember: boolean
  /** Ends its turn and waits for its tasks; otherwise its model is in the middle of an answer. */
  readonly rests: boolean
  readonly parent: TreeNode | null
  readonly children: TreeNode[]
}

export const WAYS = ["person", "model", "deadline", "budget", "failure", "group", "turn"] as const

export interface TreePlan {
  /** The session's agent, which is no task: its turn is. */
  readonly root: TreeNode
  readonly nodes: readonly TreeNode[]
  readonly isFailFast: boolean
  readonly target: TreeNode
  readonly way: (typeof WAYS)[number]
  readonly isElsewhere: boolean
}

const MOST_LEVELS = 4

const draft = fc.record({
  /** Which of the nodes so far that may have children this one is below. */
  below: fc.nat(100),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant("agent" as const) },
    { weight: 3, arbitrary: fc.constant("called" as const) },
    { weight: 5, arbitrary: fc.constant("held" as const) },
    { weight: 1, arbitrary: fc.constant("command" as const) },
    { weight: 2, arbitrary: fc.constantFrom("asking" as const, "delayed" as const) },
  ),
  isForever: fc.nat(5),
  isMember: fc.boolean(),
  rests: fc.boolean(),
})

type Draft = typeof draft extends fc.Arbitrary<infer Value> ? Value : never

export const treePlans = fc
  .record({
    drafts: fc.array(draft, { minLength: 2, maxLength: 8 }),
    isFailFast: fc.boolean(),
    target: fc.nat(100),
    way: fc.constantFrom(...WAYS),
    isElsewhere: fc.boolean(),
  })
  .map(({ drafts, isFailFast, target, way, isElsewhere }): TreePlan => {
    const root = plantRoot()
    const nodes = drafts.map((each, index) => addNode(root, each, `n${index}`))
    const chosen = nodes[target % nodes.length] ?? root
    const plan = { root, nodes, isFailFast, target: chosen, way, isElsewhere }
    return Object.assign(plan, { [fc.toStringMethod]: () => describePlan(plan) })
  })

/** A tree as text, for another process. */
export function writeTree(root: TreeNode): string {
  return JSON.stringify(root, (name, value: unknown) => (name === "parent" ? undefined : value))
}

export function readTree(text: string): TreeNode {
  const withParent = (node: TreeNode, parent: TreeNode | null): TreeNode => {
    const copy: TreeNode = { ...node, parent, children: [] }
    copy.children.push(...node.children.map((child) => withParent(child, copy)))
    return copy
  }
  return withParent(JSON.parse(text) as TreeNode, null)
}

function plantRoot(): TreeNode {
  return {
    name: "root",
    kind: "agent",
    livesForever: false,
    isMember: false,
    rests: true,
    parent: null,
    children: [],
  }
}

function addNode(root: TreeNode, { below, kind, isForever, isMember, rests }: Draft, name: string): TreeNode {
  const parents = withAllBelow(root).filter((node) => isAgent(node) && levelOf(node) < MOST_LEVELS)
  const parent = parents[below % parents.length] ?? root
  const isTask = kind !== "called"
  const livesForever = isTask && kind !== "asking" && isForever === 0
  const node = { name, kind, livesForever, isMember: isTask && isMember, rests, parent, children: [] }
  parent.children.push(node)
  return node
}

export const isAgent = ({ kind }: TreeNode): boolean => kind === "agent" || kind === "called"

const levelOf = ({ parent }: TreeNode): number => (parent ? levelOf(parent) + 1 : 0)

export function withAllBelow(node: TreeNode): readonly TreeNode[] {
  return [node, ...node.children.flatMap(withAllBelow)]
}

/** The nodes that the plan stops of itself: the others follow from them. */
export function toStopped({ root, target, way, isFailFast }: TreePlan): readonly TreeNode[] {
  if (way === "turn") return root.children.filter(({ kind }) => kind === "called")
  const members = target.parent?.children.filter(({ isMember }) => isMember) ?? []
  return target.isMember && (isFailFast || way === "group") ? members : [target]
}

/** All nodes that end when these are stopped: what lives forever goes on, unless it is stopped itself. */
export function toEnding(stopped: readonly TreeNode[]): ReadonlySet<TreeNode> {
  const ending = new Set<TreeNode>()
  const visit = (node: TreeNode): void => {
    ending.add(node)
    for (const child of node.children) if (!child.livesForever) visit(child)
  }
  for (const node of stopped) visit(node)
  return ending
}

/** What the agent waits for once it rests: tasks that are to end some day. */
const waitedFor = ({ children }: TreeNode): readonly TreeNode[] =>
  children.filter(({ kind, livesForever }) => kind !== "called" && !livesForever)

/** True for an agent that ends its turn and has something to wait for then. */
export const hasRest = (node: TreeNode): boolean =>
  isAgent(node) && (node.parent === null || (node.rests && waitedFor(node).length > 0))

/**
 * True for a resting agent that may complete, because all that it waited for has ended in a group with a member that lives
 * forever: nobody waits for that member, and the group reports to whoever is above.
 */
export function mayComplete(node: TreeNode, ending: ReadonlySet<TreeNode>): boolean {
  if (node.parent === null || !hasRest(node) || ending.has(node)) return false
  const isOver = (child: TreeNode): boolean => ending.has(child) || mayComplete(child, ending)
  const isGroupOpen = node.children.some(({ isMember, livesForever }) => isMember && livesForever)
  return waitedFor(node).every((child) => isOver(child) && child.isMember && isGroupOpen)
}

/** One line for a failed round. */
export function describePlan({ root, target, way, isElsewhere, isFailFast }: TreePlan): string {
  const where = isElsewhere ? "from another process" : "here"
  return `${describeNode(root)}; ${target.name} by ${way} ${where}${isFailFast ? ", groups fail fast" : ""}`
}

function describeNode({ name, kind, livesForever, isMember, rests, children }: TreeNode): string {
  const marks = [livesForever && "forever", isMember && "member", rests && "rests"].filter(Boolean)
  const below = children.length > 0 ? `[${children.map(describeNode).join(" ")}]` : ""
  return `${name}:${kind}${marks.length > 0 ? `(${marks.join(",")})` : ""}${below}`
}
