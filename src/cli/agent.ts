import { Agent, checkRow, createAgent, needCompany } from '../domain/directory.ts'
import { AppError } from '../errors.ts'
import { selectAgents, updateAgentActive } from '../store/agents.ts'
import { type Command, printResult, table } from './command.ts'
import { withDatabase } from './data-dir.ts'
import { idOf, rowOfFlags } from './words.ts'

export const agentCreate: Command = {
  name: 'agent create',
  takes: [],
  summary: 'make an AI agent of a company; with --id the same call may be made again',
  options: ['company', 'name', 'description', 'inactive', 'id', 'data-dir', 'json'],
  needs: ['company', 'name'],
  example: "cambista agent create --company 7 --name Facturas --description '<p>Reads invoices</p>' --id 12",
  run({ values, terminal }) {
    const id = values.givenNumber('id')
    const facts = {
      company_id: Number(values.needed('company')),
      name: values.needed('name'),
      description: values.text('description'),
      active: !values.on('inactive'),
    }
    rowOfFlags(checkRow(Agent, { id: id ?? 1, ...facts }))
    return withDatabase(values, { mustExist: true }, async (db) => {
      const { row, made } = await createAgent(db, { id, ...facts }, new Date().toISOString())
      const what = made ? 'is made' : 'is there already, and nothing was changed'
      printResult(terminal, values, row, [`agent ${row.id} (${row.name}) ${what}`])
      return 0
    })
  },
}

export const agentActivate = toggle('activate', 'let an agent be listed and get documents again', true)
export const agentDeactivate = toggle(
  'deactivate',
  'stop an agent from being listed and getting documents; what it has stays readable',
  false,
)

export const agentList: Command = {
  name: 'agent list',
  takes: [],
  summary: 'list the agents, of all companies or of one, inactive ones too',
  options: ['company', 'data-dir', 'json'],
  example: 'cambista agent list --company 7',
  run({ values, terminal }) {
    const company = values.givenNumber('company')
    return withDatabase(values, { mustExist: true }, async (db) => {
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
      printResult(terminal, values, agents, table([head, ...rows]))
      return 0
    })
  },
}

function toggle(verb: string, summary: string, active: boolean): Command {
  return {
    name: `agent ${verb}`,
    takes: ['ID'],
    summary,
    options: ['data-dir', 'json'],
    example: `cambista agent ${verb} 12`,
    run({ values, words, terminal }) {
      const id = idOf(words[0])
      return withDatabase(values, { mustExist: true }, async (db) => {
        const agent = await updateAgentActive(db, id, active)
        if (!agent) throw new AppError('not-found', `there is no agent ${id}: see cambista agent list`)
        printResult(terminal, values, agent, [`agent ${id} (${agent.name}) is ${active ? '' : 'in'}active`])
        return 0
      })
    },
  }
}
