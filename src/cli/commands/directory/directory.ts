import { readFileSync, writeFileSync } from 'node:fs'
import { exportDirectory } from '../../../domain/directory/export.ts'
import type { DirectoryFile } from '../../../domain/directory/file.ts'
import { importDirectory } from '../../../domain/directory/import.ts'
import { AppError, reasonOf } from '../../../errors.ts'
import { command, printResult } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { newFileError } from '../positionals.ts'

export const directoryImport = command({
  name: 'directory import',
  positionals: ['FILE'],
  summary: 'write companies, owners and agents of a .json or .csv file, by id; all or nothing',
  about: `FILE is JSON, as cambista directory export prints it:
  {"companies": [{"id": 7, "name": "Café Britt", "code": "BRITT"}],
   "owners": [{"id": 31, "name": "Ana Mora", "company_id": 7}],
   "agents": [{"id": 12, "company_id": 7, "name": "Facturas",
               "description": "<p>Reads invoices</p>", "active": true}]}
or CSV in UTF-8 with a header, separated by commas, semicolons or tabs:
  kind,id,name,code,company_id,description,active
  company,7,Café Britt,BRITT,,,
  owner,31,Ana Mora,,7,,
  agent,12,Facturas,,7,<p>Reads invoices</p>,true

A row of a known id changes what is stored; company_id of an owner, description and active may be left out (in CSV: left
empty) and then stay as they are. What the file does not mention stays. An owner without a company may own documents of
any. With one mistake nothing is changed, and each mistake is told with its place.`,
  options: [...PLACE, 'json'],
  changesData: true,
  example: 'cambista directory import erp.csv',
  async run({ options, positionals: [path = ''], terminal, withDatabase }) {
    const file = await readFile(path) // before another user's data directory makes this process that user
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const end = await importDirectory(db, file, clock().toISOString())
      if ('mistakes' in end) {
        for (const { place, field, message } of end.mistakes) {
          terminal.err(`${path}: ${[place, field].filter((word) => word !== '').join(', ')} ${message}\n`)
        }
        const count = end.mistakes.length
        throw new AppError(
          'failed',
          `${count} mistake${count === 1 ? '' : 's'} in ${path}: nothing was changed`,
        )
      }
      const lines = Object.entries(end.imported).map(
        ([what, { created, updated, unchanged }]) =>
          `${what}: ${created} new, ${updated} changed, ${unchanged} as they were`,
      )
      printResult(terminal, options, end.imported, lines)
      return 0
    })
  },
})

export const directoryExport = command({
  name: 'directory export',
  positionals: [],
  summary: 'print all companies, owners and agents as the JSON that directory import reads',
  options: ['out', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista directory export --out directory.json',
  run({ options, terminal, withDatabase }) {
    const { out } = options
    return withDatabase({ mustExist: true }, async (db) => {
      const directory = await exportDirectory(db)
      const text = `${JSON.stringify(directory, null, 2)}\n`
      if (out === undefined) {
        terminal.out(text)
        return 0
      }
      try {
        writeFileSync(out, text, { flag: 'wx' })
      } catch (error) {
        throw newFileError(out, error)
      }
      const { companies, owners, agents } = directory
      const counts = { companies: companies.length, owners: owners.length, agents: agents.length }
      const told = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
      printResult(terminal, options, { file: out, ...counts }, [`${told.join(', ')} written to ${out}`])
      return 0
    })
  },
})

async function readFile(path: string): Promise<DirectoryFile> {
  const [, ending] = /\.(json|csv)$/i.exec(path) ?? []
  const format = ending?.toLowerCase()
  if (format !== 'json' && format !== 'csv') {
    throw new AppError('usage', `FILE must end in .json or .csv, not ${JSON.stringify(path)}`)
  }
  const { readDirectoryFile } = await import('../../../domain/directory/file.ts') // a library that no other command needs
  try {
    return readDirectoryFile(readFileSync(path), format)
  } catch (error) {
    throw new AppError('failed', `cannot read ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
