// What is handed out as CSV and as a workbook: one table, whose columns say what their cells are.

/** `day`: YYYY-MM-DD. `number`: digits as the API wrote them. An empty cell is no value. */
export type Column = { title: string; kind: 'text' | 'day' | 'number' }
export type Table = { title: string; columns: readonly Column[]; rows: readonly (readonly string[])[] }
