/** The part of the package that is used here; it comes without types. */
declare module "html-to-text" {
  export interface Selector {
    readonly selector: string
    readonly format?: string
    readonly options?: Readonly<Record<string, unknown>>
  }
  export interface ConvertOptions {
    readonly wordwrap?: number | null
    readonly limits?: { readonly maxDepth?: number; readonly maxInputLength?: number }
    readonly selectors?: readonly Selector[]
  }
  export function convert(html: string, options: ConvertOptions): string
}
