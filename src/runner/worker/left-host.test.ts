import { hostname } from "node:os"
import { expect, test } from "vitest"
import { hasSameSpool, isOfThisHost, toLeftData } from "./left-host.ts"

const PLACE = "boot-1/4026531836 /data/spool"
const OTHER_BOOT = "boot-2/4026531836 /data/spool"
const OWN = { spoolPlace: PLACE, dataFolderId: "one" }

const leave = (spool: string, dataFolderId?: string, host: string = hostname()) => ({
  data: toLeftData({ host, spool, ...(dataFolderId !== undefined && { dataFolderId }) }),
})

test("a left lease is for the worker that has its data folder now, on whatever machine", () => {
  expect(isOfThisHost(leave(PLACE, "one"), OWN)).toBe(true)
  expect(isOfThisHost(leave(OTHER_BOOT, "one"), OWN)).toBe(true)
  expect(isOfThisHost(leave("boot-9/1 /mnt/data/spool", "one", "another"), OWN)).toBe(true)
})

test("a machine of the same name with a data folder of the same path is another one", () => {
  expect(isOfThisHost(leave(OTHER_BOOT, "two"), OWN)).toBe(false)
  expect(isOfThisHost(leave(PLACE, "two"), OWN)).toBe(false)
})

test("where one of the two folders has no id, the machine's name and the path count", () => {
  expect(isOfThisHost(leave(OTHER_BOOT), OWN)).toBe(true)
  expect(isOfThisHost(leave(OTHER_BOOT, undefined, "another"), OWN)).toBe(false)
  expect(isOfThisHost(leave(OTHER_BOOT, "two"), { ...OWN, dataFolderId: null })).toBe(true)
})

test("processes of a worker that died are looked for only where it kept them", () => {
  expect(hasSameSpool({ spool: PLACE, dataFolderId: "one" }, OWN)).toBe(true)
  expect(hasSameSpool({ spool: PLACE }, OWN)).toBe(true)
  expect(hasSameSpool({ spool: PLACE, dataFolderId: "two" }, OWN)).toBe(false)
  expect(hasSameSpool({ spool: OTHER_BOOT, dataFolderId: "one" }, OWN)).toBe(false)
})
