// Companies, agents and owners that the token can list.

import { useEffect, useState } from 'preact/hooks'
import type { Agent, DirectoryEntry } from '../api/documents.ts'
import { apiRequest, type Failure, type Result } from '../api/request.ts'
import { session } from '../api/session.ts'
import { refreshCount } from '../components/use-api.ts'
import { visibleText } from '../model/visible.ts'

export type LoadedDirectory = {
  companies: readonly DirectoryEntry[]
  /** The selected company, or the only one; 0: the user must select one. */
  company: number
  agents: readonly Agent[]
  owners: readonly DirectoryEntry[]
  isLoaded: boolean
  failure: Failure | undefined
}

type List<T> = Result<readonly T[]>

const PAGE_SIZE = 200

export function useDirectory(selectedCompany: number): LoadedDirectory {
  const current = session.value
  const tokenCompany = current.state === 'in' ? (current.token?.company_id ?? 0) : 0
  const companies = useList<DirectoryEntry>('/api/v1/companies', 'companies')
  const company = selectedCompany || tokenCompany || singleId(companies?.value)
  const parties = useParties(company)
  return {
    companies: companies?.value ?? [],
    ...parties,
    isLoaded: companies?.value !== undefined && parties.isLoaded,
    failure: companies?.failure ?? parties.failure,
  }
}

/** Agents and owners of a company. @param company 0: none */
export function useParties(company: number): Omit<LoadedDirectory, 'companies'> {
  const path = company > 0 ? `/api/v1/companies/${company}` : undefined
  const agents = useList<Agent>(path && `${path}/agents`, 'agents')
  const owners = useList<DirectoryEntry>(path && `${path}/owners`, 'owners')
  return {
    company,
    agents: agents?.value ?? [],
    owners: owners?.value ?? [],
    isLoaded: path === undefined || Boolean(agents?.value && owners?.value),
    failure: agents?.failure ?? owners?.failure,
  }
}

/** Names of the agents of several companies, by id. */
export function useAgentNames(companies: readonly number[]): {
  names: ReadonlyMap<number, string>
  isLoaded: boolean
} {
  const [agentsByCompany, setAgents] = useState<ReadonlyMap<number, readonly Agent[]>>(new Map())
  const companyIds = [...new Set(companies)].sort((a, b) => a - b)
  const refresh = refreshCount.value
  useEffect(() => {
    const request = new AbortController()
    const load = async () => {
      for (const id of companyIds) {
        const { value } = await fetchList<Agent>(`/api/v1/companies/${id}/agents`, 'agents', request.signal)
        if (request.signal.aborted) return
        setAgents((old) => new Map(old).set(id, value ?? old.get(id) ?? []))
      }
    }
    void load()
    return () => request.abort()
  }, [companyIds.join(), refresh])
  const agents = [...agentsByCompany.values()].flat()
  return {
    names: new Map(agents.map(({ id, name }) => [id, name])),
    isLoaded: companyIds.every((id) => agentsByCompany.has(id)),
  }
}

function singleId(companies: readonly DirectoryEntry[] | undefined): number {
  return companies?.length === 1 ? (companies[0]?.id ?? 0) : 0
}

/** Loads all pages of a list. Undefined until they are loaded. */
function useList<T extends DirectoryEntry>(path: string | undefined, name: string): List<T> | undefined {
  const [state, setState] = useState<{ path: string; list: List<T> } | undefined>(undefined)
  const refresh = refreshCount.value
  useEffect(() => {
    if (path === undefined) return
    const request = new AbortController()
    void fetchList<T>(path, name, request.signal).then((list) => {
      if (!request.signal.aborted) setState({ path, list })
    })
    return () => request.abort()
  }, [path, refresh])
  return state && state.path === path ? state.list : undefined
}

async function fetchList<T extends DirectoryEntry>(
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<List<T>> {
  const rows: T[] = []
  let after = 0
  for (;;) {
    type Page = { next_after: number; has_more: boolean } & Record<string, readonly T[]>
    const { value, failure } = await apiRequest<Page>(`${path}?limit=${PAGE_SIZE}&after=${after}`, { signal })
    if (failure) return { failure }
    rows.push(...(value[name] ?? []))
    after = value.next_after
    if (!value.has_more) return { value: rows.map((one) => ({ ...one, name: visibleText(one.name) })) }
  }
}
