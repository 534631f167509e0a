// The manual for operators: Markdown files of src/manual in English, and of src/manual/es in Spanish.

import { readAsset } from '../../runtime/assets.ts'
import { nearest } from '../../values/edit-distance.ts'
import { command, formatTable } from '../command.ts'
import { usageError } from '../help/advice.ts'
import { type Language, messageLanguage } from '../help/locale.ts'

/** Topics in the order in which an operator needs them. `leame` is README in Spanish. */
export const TOPICS = [
  'guides',
  'api',
  'options',
  'rates',
  'sources',
  'indicators',
  'programs',
  'hostnames',
  'documents',
  'agents',
  'hooks',
  'mail',
  'service',
  'containers',
  'page',
  'https',
  'backups',
  'upgrades',
  'promises',
  'cluster',
  'logs',
  'leame',
] as const

type Topic = (typeof TOPICS)[number]

const MAX_TYPOS = 2
const LIST = {
  en: { heading: 'Topics of the manual:', closing: 'cambista manual TOPIC prints one.' },
  es: { heading: 'Temas del manual:', closing: 'cambista manual TEMA imprime uno.' },
}

export const manual = command({
  name: 'manual',
  positionals: ['[TOPIC]'],
  choices: TOPICS,
  options: [],
  ignoresService: true,
  async run({ positionals: [word], terminal }) {
    const language = messageLanguage(terminal.env)
    terminal.out(word === undefined ? topicList(language) : topicText(findTopic(word, language), language))
  },
})

function topicList(language: Language): string {
  const { heading, closing } = LIST[language]
  const lines = formatTable(TOPICS.map((topic) => [`  ${topic}`, topicTitle(topic, language)]))
  return `${heading}\n${lines.join('\n')}\n\n${closing}\n`
}

function topicText(topic: Topic, language: Language): string {
  const isSpanish = language === 'es' || topic === 'leame'
  return readAsset(`src/manual/${isSpanish ? 'es/' : ''}${topic}.md`)
}

function topicTitle(topic: Topic, language: Language): string {
  return /^# (.*)$/m.exec(topicText(topic, language))?.[1] ?? topic
}

/** @throws AppError `usage` for an unknown topic, with the nearest one */
function findTopic(word: string, language: Language): Topic {
  const topic = TOPICS.find((one) => one === word)
  if (topic) return topic
  const lower = word.toLowerCase()
  const near =
    nearest(lower, TOPICS, MAX_TYPOS) ?? TOPICS.find((one) => hasHeading(topicText(one, language), lower))
  throw usageError({ reason: 'unknown-topic', word, near, topics: TOPICS })
}

/** Returns whether a heading of the text has the word, or its plural. */
function hasHeading(text: string, word: string): boolean {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase())
  return headings.some((heading) =>
    heading.split(/[^\p{L}\d]+/u).some((one) => one === word || one === `${word}s`),
  )
}
