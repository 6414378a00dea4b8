/** Loaded before a program: makes the program's wall clock wrong, as a machine's may be. */
const byMs = Number(process.env["MEANWHILE_TEST_CLOCK_MS"])
const rightNow = Date.now
const wrongNow = (): number => rightNow() + byMs

globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length === 0 ? [wrongNow()] : values, made) as object,
  get: (target, name): unknown => (name === "now" ? wrongNow : Reflect.get(target, name)),
})
