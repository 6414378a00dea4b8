declare const brand: unique symbol

/** A string that can only be made where it is meant to be made, so that one kind of id never passes for another. */
export type Brand<Name extends string> = string & { readonly [brand]: Name }
