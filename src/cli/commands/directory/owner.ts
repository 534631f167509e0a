import { createOwner, Owner } from '../../../domain/directory/directory.ts'
import { selectOwners } from '../../../store/directory/owners.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listCommand } from '../rows.ts'
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

export const ownerList = listCommand({
  name: 'owner list',
  options: ['company'],
  select: (db, _engine, { company }) => companyRows(db, company, selectOwners),
  columns: {
    ID: 'id',
    COMPANY: ({ company_id }) => company_id ?? 'any',
    NAME: 'name',
    CREATED: 'created_at',
  },
})
