import { createOwner, Owner } from '../../../domain/directory/directory.ts'
import { selectOwners } from '../../../store/directory/owners.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listRows } from '../rows.ts'
import { companyRows, createRow } from './create.ts'

export const ownerCreate = command({
  name: 'owner create',
  options: ['name', 'company', 'id', ...STORAGE, 'json'],
  required: ['name'],
  changesData: true,
  run(input) {
    const { name, company = null } = input.options
    const kind = { noun: 'owner', schema: Owner, mustExist: false }
    return createRow(input, kind, { name, company_id: company }, createOwner)
  },
})

export const ownerList = command({
  name: 'owner list',
  options: ['company', ...STORAGE, 'json'],
  run: (input) =>
    listRows(input, companyRows(input.options.company, selectOwners), {
      ID: 'id',
      COMPANY: ({ company_id }) => company_id ?? 'any',
      NAME: 'name',
      CREATED: 'created_at',
    }),
})
