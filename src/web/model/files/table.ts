// Table that the page exports as CSV or as a workbook.

/**
 * `day`: YYYY-MM-DD. `month`: YYYY-MM, or the first day of a month. `instant`: ISO 8601 in UTC. `number`: digits of the
 * API, all of them visible. `amount`: the same, with two decimals. `count`: a whole number. `note`: remarks about a row. An empty cell has
 * no value.
 */
export type DownloadKind = 'text' | 'note' | 'day' | 'month' | 'instant' | 'number' | 'amount' | 'count'

export type TableColumn = {
  title: string
  kind: DownloadKind
  /** Heading of the CSV for programs, as the API names the field; undefined: the title. */
  name?: string
  /** `people`: in spreadsheets alone; `programs`: in the CSV for programs alone. */
  only?: 'people' | 'programs'
  /** Writes a figure as on the screen, with at least two decimals; those of the workbook are as many. */
  format?: (value: string, row: number) => string
  /**
   * Formula of the workbook, without its equals sign, for each row with a value, which is its result.
   * @param cell returns the reference of the row's cell in a column, by the index in `columns`
   */
  formula?: (cell: (column: number) => string) => string
}

/** Last row of the workbook, over the rows that the filter leaves visible. */
export type TableTotal = {
  label: string
  operation: 'mean' | 'sum'
  /** Indexes of the columns. */
  columns: readonly number[]
  /** Indexes of the rows that count, such as the whole periods. */
  rows: readonly number[]
  note?: string
}

/** Published value from which rows were computed. `rounding`: decimals to which the source rounded, or nothing. */
export type SourceValue = { series: string; indicator: string; day: string; value: string; rounding: string }

export type Download = {
  title: string
  /** Line that names the publisher of the values. */
  source: string
  columns: readonly TableColumn[]
  rows: readonly (readonly string[])[]
  /** Lines below the table of the workbook. */
  notes?: readonly string[]
  total?: TableTotal
  /** Second sheet of the workbook. */
  sources?: readonly SourceValue[]
  /** Milliseconds, when the server answered; undefined: now. */
  at?: number
}
