/** `parentTask` is kept in the column `parent_task`. */
type ColumnOf<Field extends string> = Field extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${ColumnOf<Tail>}`
  : ""

/** The columns of fields that are stored unchanged, each under the field's name. */
export type Columns<Fields> = { readonly [Field in keyof Fields & string as ColumnOf<Field>]: Fields[Field] }
