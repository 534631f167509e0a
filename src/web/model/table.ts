// Table that the page exports as CSV or as a workbook.

/** `day`: YYYY-MM-DD. `number`: digits of the API. An empty cell has no value. */
export type Column = { title: string; kind: 'text' | 'day' | 'number' }
export type Table = { title: string; columns: readonly Column[]; rows: readonly (readonly string[])[] }
