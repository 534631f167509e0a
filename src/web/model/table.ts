// Table that the page exports as CSV or as a workbook.

/** `day`: YYYY-MM-DD. `number`: digits of the API. An empty cell has no value. */
export type TableColumn = { title: string; kind: 'text' | 'day' | 'number' }
export type Download = {
  title: string
  columns: readonly TableColumn[]
  rows: readonly (readonly string[])[]
}
