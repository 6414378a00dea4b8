import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { LARGEST_FILE_BYTES } from "./file-state.ts"

export const pathInput = lazily(() => z.string().min(1).describe("The file, from the working folder."))

export const contentInput = lazily(() =>
  z
    .string()
    .max(LARGEST_FILE_BYTES, "is too large for a file made here")
    .refine((text) => text.isWellFormed(), "holds half a character (a lone surrogate), which no file can")
    .refine((text) => !text.includes("\0"), "must not hold a NUL character: only text can be written"),
)
