import { Company, createCompany } from '../../../domain/directory/directory.ts'
import { selectCompanies, updateCompanyQuota } from '../../../store/directory/companies.ts'
import { quotaText, sizeText } from '../../../values/sizes.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseId } from '../positionals.ts'
import { changeRow, listRows, usageText } from '../rows.ts'
import { createRow } from './create.ts'

export const companyCreate = command({
  name: 'company create',
  options: ['name', 'code', 'id', 'quota', ...STORAGE, 'json'],
  required: ['name', 'code'],
  changesData: true,
  run(input) {
    const { name, code, quota } = input.options
    const kind = { noun: 'company', schema: Company, mustExist: false }
    return createRow(input, kind, { name, code }, (db, row, at) => createCompany(db, { ...row, quota }, at))
  },
})

export const companyUpdate = command({
  name: 'company update',
  positionals: ['ID'],
  options: ['quota', ...STORAGE, 'json'],
  required: ['quota'],
  changesData: true,
  run: (input) =>
    changeRow(
      input,
      { noun: 'company', parse: parseId },
      (db, id) => updateCompanyQuota(db, id, input.options.quota),
      (company) => `company ${company.id} (${company.name}): ${usageText(company)}`,
    ),
})

export const companyList = command({
  name: 'company list',
  options: [...STORAGE, 'json'],
  run: (input) =>
    listRows(input, (db) => selectCompanies(db), {
      ID: 'id',
      CODE: 'code',
      NAME: 'name',
      CREATED: 'created_at',
      DOCUMENTS: ({ used }) => sizeText(used),
      QUOTA: ({ quota }) => quotaText(quota),
    }),
})
