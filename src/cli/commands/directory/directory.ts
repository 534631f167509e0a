import { readFileSync, writeFileSync } from 'node:fs'
import { exportDirectory } from '../../../domain/directory/export.ts'
import { type DirectoryFile, readDirectoryFile } from '../../../domain/directory/file.ts'
import { importDirectory } from '../../../domain/directory/import.ts'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import { countNoun } from '../../../values/sizes.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { newFileError, resultFile } from '../positionals.ts'

export const directoryImport = command({
  name: 'directory import',
  positionals: ['FILE'],
  options: [...STORAGE, 'json'],
  changesData: true,
  async run({ options, positionals: [path = ''], terminal, withDatabase }) {
    const file = await readFile(path) // before `becomeOwner`, whose user may not read the file
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const result = await importDirectory(db, file, clock().toISOString())
      if ('errors' in result) {
        for (const { place, field, message } of result.errors) {
          terminal.err(`${path}: ${[place, field].filter((word) => word !== '').join(', ')} ${message}\n`)
        }
        const count = result.errors.length
        throw new AppError(
          'failed',
          `${count} mistake${count === 1 ? '' : 's'} in ${path}: nothing was changed`,
        )
      }
      const lines = Object.entries(result.imported).map(
        ([what, { created, updated, unchanged }]) =>
          `${what}: ${created} new, ${updated} changed, ${unchanged} as they were`,
      )
      printResult(terminal, options, result.imported, lines)
    })
  },
})

export const directoryExport = command({
  name: 'directory export',
  options: ['out', ...STORAGE, 'json'],
  run({ options, terminal, withDatabase }) {
    const out = resultFile(options.out)
    return withDatabase({ mustExist: true }, async (db) => {
      const directory = await exportDirectory(db)
      const text = `${JSON.stringify(directory, null, 2)}\n`
      if (out === undefined) {
        terminal.out(text)
        return
      }
      try {
        writeFileSync(out, text, { flag: 'wx' })
      } catch (error) {
        throw newFileError(out, error)
      }
      const { companies, owners, agents } = directory
      const counts = { companies: companies.length, owners: owners.length, agents: agents.length }
      const parts = [
        countNoun(counts.companies, 'company', 'companies'),
        countNoun(counts.owners, 'owner'),
        countNoun(counts.agents, 'agent'),
      ]
      printResult(terminal, options, { file: out, ...counts }, [`${parts.join(', ')} written to ${out}`])
    })
  },
})

async function readFile(path: string): Promise<DirectoryFile> {
  const [, ending] = /\.(json|csv)$/i.exec(path) ?? []
  const format = ending?.toLowerCase()
  if (format !== 'json' && format !== 'csv') {
    throw new AppError('usage', `FILE must end in .json or .csv, not ${JSON.stringify(path)}`)
  }
  try {
    return readDirectoryFile(readFileSync(path), format)
  } catch (error) {
    throw new AppError('failed', `cannot read ${path}: ${errorReason(error)}`, { cause: error })
  }
}
