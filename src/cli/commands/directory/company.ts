import { Company, createCompany } from '../../../domain/directory/directory.ts'
import { AppError } from '../../../runtime/errors.ts'
import { selectCompanies, updateCompanySettings } from '../../../store/directory/companies.ts'
import { quotaText, sizeText } from '../../../values/sizes.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseId } from '../positionals.ts'
import { changeRow, listCommand, usageText } from '../rows.ts'
import { createRow } from './create.ts'

export const companyCreate = command({
  name: 'company create',
  options: ['name', 'code', 'id', 'quota', 'tax-id', ...STORAGE, 'json'],
  required: ['name', 'code'],
  changesData: true,
  run(input) {
    const { name, code, quota, 'tax-id': tax_ids } = input.options
    const kind = { noun: 'company', schema: Company, mustExist: false }
    return createRow(input, kind, { name, code }, (db, row, at) =>
      createCompany(db, { ...row, quota, tax_ids }, at),
    )
  },
})

export const companyUpdate = command({
  name: 'company update',
  positionals: ['ID'],
  options: ['quota', 'tax-id', ...STORAGE, 'json'],
  anyOf: ['quota', 'tax-id'],
  changesData: true,
  run(input) {
    const { quota, 'tax-id': tax_ids } = input.options
    if (quota === undefined && tax_ids === undefined)
      throw new AppError('usage', 'give --quota, --tax-id or both')
    return changeRow(
      input,
      { noun: 'company', parse: parseId },
      (db, id) => updateCompanySettings(db, id, { quota, tax_ids }),
      (company) => {
        const ids = company.tax_ids === null ? '' : `; tax ids ${company.tax_ids}`
        return `company ${company.id} (${company.name}): ${usageText(company)}${ids}`
      },
    )
  },
})

export const companyList = listCommand({
  name: 'company list',
  select: (db) => selectCompanies(db),
  columns: (_engine, rows) => ({
    ID: 'id',
    CODE: 'code',
    NAME: 'name',
    CREATED: 'created_at',
    DOCUMENTS: ({ used }) => sizeText(used),
    QUOTA: ({ quota }) => quotaText(quota),
    ...(rows.some(({ tax_ids }) => tax_ids !== null) && { 'TAX IDS': 'tax_ids' }),
  }),
})
