// A whole directory, as an import reads it.

import { selectAgents } from '../../store/directory/agents.ts'
import { selectCompanies } from '../../store/directory/companies.ts'
import { selectOwners } from '../../store/directory/owners.ts'
import type { ReadDb } from '../../store/tables.ts'

export type DirectoryExport = {
  companies: { id: number; name: string; code: string; tax_ids: string | null }[]
  owners: { id: number; name: string; company_id: number | null }[]
  agents: { id: number; company_id: number; name: string; description: string; active: boolean }[]
}

export async function exportDirectory(db: ReadDb): Promise<DirectoryExport> {
  return {
    companies: (await selectCompanies(db)).map(({ id, name, code, tax_ids }) => ({
      id,
      name,
      code,
      tax_ids,
    })),
    owners: (await selectOwners(db)).map(({ created_at: _, ...owner }) => owner),
    agents: (await selectAgents(db)).map(({ created_at: _, ...agent }) => agent),
  }
}
