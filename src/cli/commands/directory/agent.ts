import { Agent, checkRow, createAgent, needCompany } from '../../../domain/directory/directory.ts'
import { AppError } from '../../../errors.ts'
import { selectAgents, updateAgentActive } from '../../../store/directory/agents.ts'
import { command, printResult, table } from '../../command.ts'
import { PLACE } from '../../place/options.ts'
import { parseId, rowOfFlags } from '../positionals.ts'

export const agentCreate = command({
  name: 'agent create',
  positionals: [],
  summary: 'make an AI agent of a company; with --id the same call may be made again',
  options: ['company', 'name', 'description', 'inactive', 'id', ...PLACE, 'json'],
  required: ['company', 'name'],
  changesData: true,
  example: "cambista agent create --company 7 --name Facturas --description '<p>Reads invoices</p>' --id 12",
  run({ options, terminal, withDatabase }) {
    const { id } = options
    const facts = {
      company_id: options.company,
      name: options.name,
      description: options.description ?? '',
      active: !options.inactive,
    }
    rowOfFlags(checkRow(Agent, { id: id ?? 1, ...facts }))
    return withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { row, made } = await createAgent(db, { id, ...facts }, clock().toISOString())
      const what = made ? 'is made' : 'is there already, and nothing was changed'
      printResult(terminal, options, row, [`agent ${row.id} (${row.name}) ${what}`])
      return 0
    })
  },
})

export const agentActivate = toggle('activate', 'let an agent be listed and get documents again', true)
export const agentDeactivate = toggle(
  'deactivate',
  'stop an agent from being listed and getting documents; what it has stays readable',
  false,
)

export const agentList = command({
  name: 'agent list',
  positionals: [],
  summary: 'list the agents, of all companies or of one, inactive ones too',
  options: ['company', ...PLACE, 'json'],
  changesData: false,
  example: 'cambista agent list --company 7',
  run({ options, terminal, withDatabase }) {
    const { company } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (company !== undefined) await needCompany(db, company)
      const agents = await selectAgents(db, company)
      const rows = agents.map((one) => [
        String(one.id),
        String(one.company_id),
        one.active ? 'active' : 'inactive',
        one.name,
        one.created_at,
      ])
      const head = ['ID', 'COMPANY', 'STATE', 'NAME', 'CREATED']
      printResult(terminal, options, agents, table([head, ...rows]))
      return 0
    })
  },
})

function toggle<const Verb extends string>(verb: Verb, summary: string, active: boolean) {
  return command({
    name: `agent ${verb}` as const,
    positionals: ['ID'],
    summary,
    options: [...PLACE, 'json'],
    changesData: true,
    example: `cambista agent ${verb} 12`,
    run({ options, positionals, terminal, withDatabase }) {
      const id = parseId(positionals[0])
      return withDatabase({ mustExist: true }, async (db) => {
        const agent = await updateAgentActive(db, id, active)
        if (!agent) throw new AppError('not-found', `there is no agent ${id}: see cambista agent list`)
        printResult(terminal, options, agent, [`agent ${id} (${agent.name}) is ${active ? '' : 'in'}active`])
        return 0
      })
    },
  })
}
