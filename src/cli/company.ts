import { Company, checkRow, createCompany } from '../domain/directory.ts'
import { selectCompanies } from '../store/companies.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'
import { rowOfFlags } from './words.ts'

export const companyCreate: Command = {
  name: 'company create',
  takes: [],
  summary: 'make a company; with --id the same call may be made again',
  options: ['name', 'code', 'id', 'data-dir', 'json'],
  needs: ['name', 'code'],
  example: "cambista company create --name 'Café Britt' --code BRITT --id 7",
  run({ values, terminal }) {
    const id = values.givenNumber('id')
    const { name, code } = rowOfFlags(
      checkRow(Company, { id: id ?? 1, name: values.needed('name'), code: values.needed('code') }),
    )
    return withDatabase(values, { mustExist: false }, async (db) => {
      const { row, made } = await createCompany(db, { id, name, code }, new Date().toISOString())
      const what = made ? 'is made' : 'is there already, and nothing was changed'
      printResult(terminal, values, row, [`company ${row.id} (${row.name}) ${what}`])
      return 0
    })
  },
}

export const companyList: Command = {
  name: 'company list',
  takes: [],
  summary: 'list the companies',
  options: ['data-dir', 'json'],
  example: 'cambista company list',
  run({ values, terminal }) {
    return withDatabase(values, { mustExist: true }, async (db) => {
      const companies = await selectCompanies(db)
      const rows = companies.map(({ id, code, name, created_at }) => [String(id), code, name, created_at])
      printResult(terminal, values, companies, table([['ID', 'CODE', 'NAME', 'CREATED'], ...rows]))
      return 0
    })
  },
}
