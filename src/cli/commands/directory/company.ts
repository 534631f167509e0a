import { Company, checkRow, createCompany } from '../../../domain/directory/directory.ts'
import { AppError } from '../../../errors.ts'
import { quotaText, sizeText } from '../../../sizes.ts'
import { selectCompanies, updateCompanyQuota } from '../../../store/directory/companies.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { parseId, rowOfFlags } from '../positionals.ts'
import { usageText } from '../quota.ts'

export const companyCreate = command({
  name: 'company create',
  positionals: [],
  summary: 'make a company; with --id the same call may be made again',
  options: ['name', 'code', 'id', 'quota', ...PLACE, 'json'],
  required: ['name', 'code'],
  changesData: true,
  example: "cambista company create --name 'Café Britt' --code BRITT --id 7",
  run({ options, terminal, withDatabase }) {
    const { id } = options
    const { name, code } = rowOfFlags(
      checkRow(Company, { id: id ?? 1, name: options.name, code: options.code }),
    )
    const { quota } = options
    return withDatabase({ mustExist: false }, async (db, { clock }) => {
      const { row, made } = await createCompany(db, { id, name, code, quota }, clock().toISOString())
      const what = made ? 'is made' : 'is there already, and nothing was changed'
      printResult(terminal, options, row, [`company ${row.id} (${row.name}) ${what}`])
      return 0
    })
  },
})

export const companyUpdate = command({
  name: 'company update',
  positionals: ['ID'],
  summary: 'set how much the documents of a company may have together',
  about: `An upload that would exceed it is refused with 507. To change name and code: cambista directory import.`,
  options: ['quota', ...PLACE, 'json'],
  required: ['quota'],
  changesData: true,
  example: 'cambista company update 7 --quota 50GiB',
  run({ options, positionals, terminal, withDatabase }) {
    const { quota } = options
    const id = parseId(positionals[0])
    return withDatabase({ mustExist: true }, async (db) => {
      const company = await updateCompanyQuota(db, id, quota)
      if (!company)
        throw new AppError('not-found', `there is no company ${id}`, { advice: { about: 'companies' } })
      const { name, used } = company
      printResult(terminal, options, company, [`company ${id} (${name}): ${usageText({ quota, used })}`])
      return 0
    })
  },
})

export const companyList = command({
  name: 'company list',
  positionals: [],
  summary: 'list the companies',
  options: [...PLACE, 'json'],
  changesData: false,
  example: 'cambista company list',
  run({ options, terminal, withDatabase }) {
    return withDatabase({ mustExist: true }, async (db) => {
      const companies = await selectCompanies(db)
      const rows = companies.map((one) => [
        String(one.id),
        one.code,
        one.name,
        one.created_at,
        sizeText(one.used),
        quotaText(one.quota),
      ])
      const head = ['ID', 'CODE', 'NAME', 'CREATED', 'DOCUMENTS', 'QUOTA']
      printResult(terminal, options, companies, table([head, ...rows]))
      return 0
    })
  },
})
