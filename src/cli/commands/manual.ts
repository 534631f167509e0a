// Longer texts for operators: Markdown files of src/manual, which are inside the packed executable too.

import { readAsset } from '../../assets.ts'
import { nearest } from '../../edit-distance.ts'
import { misused } from '../advice.ts'
import { command, table } from '../command.ts'

/** In the order in which an operator comes to need them. `leame` is README in Spanish. */
export const TOPICS = [
  'rates',
  'programs',
  'hostnames',
  'documents',
  'agents',
  'hooks',
  'service',
  'page',
  'https',
  'backups',
  'upgrades',
  'cluster',
  'logs',
  'leame',
] as const

type Topic = (typeof TOPICS)[number]

const MOST_LETTERS = 2

export const manual = command({
  name: 'manual',
  positionals: ['[TOPIC]'],
  choices: TOPICS,
  summary: 'print a topic of the manual; without one, list the topics',
  options: [],
  ignoresService: true,
  changesData: false,
  example: 'cambista manual backups',
  async run({ positionals: [word], terminal }) {
    terminal.out(word === undefined ? listText() : textOf(topicOf(word)))
    return 0
  },
})

function listText(): string {
  const lines = table(TOPICS.map((topic) => [`  ${topic}`, titleOf(topic)]))
  return `Topics of the manual:\n${lines.join('\n')}\n\ncambista manual TOPIC prints one.\n`
}

function textOf(topic: Topic): string {
  return readAsset(`src/manual/${topic}.md`)
}

function titleOf(topic: Topic): string {
  return /^# (.*)$/m.exec(textOf(topic))?.[1] ?? topic
}

/** @throws AppError `usage` for a word that is no topic, with the one that was probably meant */
function topicOf(word: string): Topic {
  const topic = TOPICS.find((one) => one === word)
  if (topic) return topic
  const typed = word.toLowerCase()
  const near = nearest(typed, TOPICS, MOST_LETTERS) ?? TOPICS.find((one) => isAbout(one, typed))
  throw misused({ misuse: 'unknown-topic', word, near, topics: TOPICS })
}

/** Whether a heading of the topic has the word, or its plural. */
function isAbout(topic: Topic, word: string): boolean {
  const headings = [...textOf(topic).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  return headings.some((heading) => heading.split(/[^\w]+/).some((one) => one === word || one === `${word}s`))
}
