// Lists the rows of a table, or changes the row that the command line names, such as `key revoke erp`.

import { AppError } from '../../runtime/errors.ts'
import type { Usage } from '../../store/documents/usage.ts'
import type { Engine } from '../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'
import { quotaText, sizeText } from '../../values/sizes.ts'
import { type Command, command, formatTable, printResult, type Terminal } from '../command.ts'
import type { OptionName } from '../options/options.ts'
import { STORAGE } from '../options/storage.ts'
import type { CommandOptions } from '../options/values.ts'
import type { WithDatabase } from '../storage/data-dir.ts'
import { parseId } from './positionals.ts'

/** Cells of a row by heading: the name of a field, or a function. An empty cell is null. */
export type ListColumns<Row> = Readonly<
  Record<string, (keyof Row & string) | ((row: Row) => string | number | null)>
>

type Output = { terminal: Terminal; options: { json: boolean } }
type Input = Output & { positionals: string[]; withDatabase: WithDatabase }

/** Defines a command that lists rows. Its own options precede those of the storage. */
export function listCommand<Row, const Name extends OptionName = never>(definition: {
  name: string
  options?: readonly Name[]
  select(db: ReadDb, engine: Engine, options: CommandOptions<Name>): Promise<readonly Row[]>
  columns: ListColumns<Row> | ((engine: Engine, rows: readonly Row[]) => ListColumns<Row>)
}): Command {
  const { name, options = [], select, columns } = definition
  return command({
    ...{ name, options: [...options, ...STORAGE, 'json'] },
    run: (input) =>
      listRows(input as Input & typeof input, (db, engine) => select(db, engine, input.options), columns),
  })
}

/** Prints the selected rows. */
export function listRows<Row>(
  input: Input,
  select: (db: ReadDb, engine: Engine) => Promise<readonly Row[]>,
  columns: ListColumns<Row> | ((engine: Engine, rows: readonly Row[]) => ListColumns<Row>),
): Promise<void> {
  return input.withDatabase({ mustExist: true }, async (db, engine) => {
    const rows = await select(db, engine)
    printRows(input, rows, typeof columns === 'function' ? columns(engine, rows) : columns)
  })
}

/** Prints rows as a table, or as JSON. */
export function printRows<Row>(
  { terminal, options }: Output,
  rows: readonly Row[],
  columns: ListColumns<Row>,
) {
  const cells = Object.values(columns)
  const lines = rows.map((row) =>
    cells.map((cell) => String((typeof cell === 'function' ? cell(row) : row[cell]) ?? '')),
  )
  printResult(terminal, options, rows, formatTable([Object.keys(columns), ...lines]))
}

/** Changes the row that the first positional names; `change` returns undefined if it is missing. */
export function changeRow<Subject extends string | number, Row>(
  input: Input,
  { noun, parse }: { noun: string; parse(word: string | undefined): Subject },
  change: (db: WriteDb, subject: Subject, engine: Engine) => Promise<Row | undefined>,
  line: (row: Row) => string,
): Promise<void> {
  const subject = parse(input.positionals[0])
  return input.withDatabase({ mustExist: true }, async (db, engine) => {
    const row = await change(db, subject, engine)
    if (row === undefined) throw notFound(noun, subject)
    printResult(input.terminal, input.options, row, [line(row)])
  })
}

/**
 * Defines a command that changes the row of its word, by default an id, and prints a line about it. The first word of its
 * name is the noun.
 */
export function rowCommand<Row, Subject extends string | number = number>(definition: {
  name: string
  positionals?: readonly [string]
  parse?(word: string | undefined): Subject
  change(db: WriteDb, subject: Subject, engine: Engine, terminal: Terminal): Promise<Row | undefined>
  line(row: Row): string
}): Command {
  const { name, positionals = ['ID'], change, line } = definition
  const { parse = parseId as (word: string | undefined) => Subject } = definition
  const [noun = ''] = name.split(' ')
  return command({
    ...{ name, positionals, options: [...STORAGE, 'json'], changesData: true },
    run: (input) => changeRow(input, { noun, parse }, (...args) => change(...args, input.terminal), line),
  })
}

/** Returns the error for a missing row. */
export function notFound(noun: string, subject: string | number): AppError {
  const reference =
    (noun === 'key' || noun === 'token') && typeof subject === 'string' ? `named ${subject}` : subject
  return new AppError(
    'not-found',
    `there is no ${noun} ${reference}: see cambista ${noun.split(' ').at(-1)} list`,
  )
}

/** Formats usage, such as `4.2 GiB of 10 GiB are used`. */
export function usageText({ quota, used }: Usage): string {
  return quota === null
    ? `no quota; ${sizeText(used)} are used`
    : `${sizeText(used)} of ${quotaText(quota)} are used`
}
