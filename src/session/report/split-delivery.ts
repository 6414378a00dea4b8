import { type Delivery, NOTHING_TO_TELL } from "../results/delivery.ts"

/** One for each group, and one for the single tasks together. What is more than may wait is put together with the last. */
export function splitDelivery(delivery: Delivery, most: number): readonly Delivery[] {
  const { groups, ...rest } = delivery
  const single: Delivery = { ...rest, groups: [] }
  const hasSingle = rest.tasks.length + rest.waiting.length + rest.restored.length > 0
  const parts = groups.map((told): Delivery => ({ ...NOTHING_TO_TELL, groups: [told] }))
  const all = hasSingle ? [...parts, single] : withPassed(parts, rest.passed)
  if (all.length <= most) return all
  const last = all.slice(most - 1).flatMap((one) => one.groups)
  return [...all.slice(0, most - 1), { ...single, groups: last }]
}

function withPassed(parts: readonly Delivery[], passed: Delivery["passed"]): readonly Delivery[] {
  const [first, ...others] = parts
  return first ? [{ ...first, passed }, ...others] : []
}
