import { checkRow, createOwner, needCompany, Owner } from '../../../domain/directory/directory.ts'
import { selectOwners } from '../../../store/directory/owners.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { rowOfFlags } from '../positionals.ts'

export const ownerCreate = command({
  name: 'owner create',
  positionals: [],
  summary: 'make an owner of documents, of one company or (without --company) of any',
  options: ['name', 'company', 'id', ...PLACE, 'json'],
  required: ['name'],
  changesData: true,
  example: "cambista owner create --name 'Ana Mora' --company 7 --id 31",
  run({ options, terminal, withDatabase }) {
    const { id } = options
    const company_id = options.company ?? null
    const { name } = rowOfFlags(checkRow(Owner, { id: id ?? 1, name: options.name, company_id }))
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const { row, made } = await createOwner(db, { id, name, company_id }, clock().toISOString())
      const what = made ? 'is made' : 'is there already, and nothing was changed'
      printResult(terminal, options, row, [`owner ${row.id} (${row.name}) ${what}`])
      return 0
    })
  },
})

export const ownerList = command({
  name: 'owner list',
  positionals: [],
  summary: 'list the owners, of all companies or of one',
  options: ['company', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista owner list --company 7',
  run({ options, terminal, withDatabase }) {
    const { company } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (company !== undefined) await needCompany(db, company)
      const owners = await selectOwners(db, company)
      const rows = owners.map((one) => [
        String(one.id),
        one.company_id === null ? 'any' : String(one.company_id),
        one.name,
        one.created_at,
      ])
      printResult(terminal, options, owners, table([['ID', 'COMPANY', 'NAME', 'CREATED'], ...rows]))
      return 0
    })
  },
})
