import { Agent, createAgent } from '../../../domain/directory/directory.ts'
import { selectAgents, updateAgentActive } from '../../../store/directory/agents.ts'
import { command } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { listCommand, rowCommand } from '../rows.ts'
import { companyRows, createRow } from './create.ts'

export const agentCreate = command({
  name: 'agent create',
  options: ['company', 'name', 'description', 'inactive', 'id', ...STORAGE, 'json'],
  required: ['company', 'name'],
  changesData: true,
  run(input) {
    const { company, name, description = '', inactive } = input.options
    const fields = { company_id: company, name, description, active: !inactive }
    return createRow(input, { noun: 'agent', schema: Agent, mustExist: true }, fields, createAgent)
  },
})

export const agentActivate = toggle('activate', true)
export const agentDeactivate = toggle('deactivate', false)

export const agentList = listCommand({
  name: 'agent list',
  options: ['company'],
  select: (db, _engine, { company }) => companyRows(db, company, selectAgents),
  columns: {
    ID: 'id',
    COMPANY: 'company_id',
    STATE: ({ active }) => (active ? 'active' : 'inactive'),
    NAME: 'name',
    CREATED: 'created_at',
  },
})

function toggle(verb: string, active: boolean) {
  return rowCommand({
    name: `agent ${verb}`,
    change: (db, id) => updateAgentActive(db, id, active),
    line: ({ id, name }) => `agent ${id} (${name}) is ${active ? '' : 'in'}active`,
  })
}
