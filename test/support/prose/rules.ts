// Habits of language that test/prose.test.ts counts, each as a function from a file to its offences. CONTRIBUTING has
// the rules in words and the glossary.

/** A file of the repository, with `text` as it is stored. */
export type ProseFile = { path: string; text: string }

/** A place that breaks a rule: the line number, from 1, and the words or the name. */
export type Offence = { line: number; words: string }

export type ProseRule = {
  /** For messages: an imperative. */
  advice: string
  offences(file: ProseFile): Offence[]
  /** A text that breaks the rule once, and a similar one that does not. */
  bad: ProseFile
  good: ProseFile
}

const FIRST_WORD =
  /^(What|Which|Who|Whom|Whose|Whether|Of|One|Ones|They|It|All|Those|Such|That|These|Each of which)\b(?![-'’])/i
// Pages for people may begin a sentence with a pronoun, but not with a question word for a noun.
const PAGE_FIRST_WORD = /^(What|Which|Who|Whom|Whose|Whether|Of)\b(?![-'’?])/
const PREPOSITION =
  /[a-z0-9](Of|In|At|By|To|From|For|With|On|Over|Under|After|Before|Without|Into|Behind|Beside|Between|Until|Since|Through|About|Against|Among|Within|As|Than)$/
// Names of the field that end so: a sign-in, a log-in, an as-of.
const FIELD_NAME = /(sign|log|plug|check|drop|built|opt|as|roll|time|add)(In|On|Of)$/i
const PARTICIPLE =
  /^(asked|begun|brought|built|called|changed|chosen|claimed|closed|deleted|done|ended|failed|felt|filled|found|freed|given|gone|got|had|heard|held|kept|known|lasted|learned|left|lent|lost|made|marked|meant|met|missed|moved|named|opened|parsed|paused|placed|removed|said|seen|sent|served|shown|sorted|stored|swept|taken|tested|thrown|told|tried|used|waited|wanted|went|won|worn|written)$/
const PRIVATE_VERB =
  /\b(says?|said|saying|tells?|told|telling|asks?|asked|asking|looks|looked|keeps?|kept|keeping|holds?|held|holding|stands?|stood|lies|lay|heeds?|heeded|comes? to|came to)\b/i
const VAGUE =
  /\b(so many|so much|by then|meanwhile|how manieth|anybody's|nobody's|anyone's|as it were|and no more)\b/i
const PRIVATE_PREFIX = /^(kept|held|asked|told|wanted|missed|looked|said|given|found|taken)(?=[A-Z])/i
const LONGEST_SENTENCE = { comment: 20, page: 25, spanish: 32 } // words
const IS_CODE = /\.(tsx?|mjs|cjs)$/
const IS_TEST = /\.test\.ts$|^test\//
const IS_SPANISH = /\/es\/|leame/
const IS_PAGE = /\.md$/
const TITLE =
  /^\s*(?:await )?(?:t\.)?(?:test|it|describe|both|eachEngine|ofSqlite)\((?:\s*\n\s*)?(['"`])((?:\\.|(?!\1).)*)\1/gm
const DECLARATION = /\b(?:const|let|function\*?|type|interface)\s+([A-Za-z_$][\w$]*)/g
const STRINGS = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g

export const PROSE_RULES: Record<string, ProseRule> = {
  'first word': {
    advice: 'begin the sentence with a noun or a verb in the third person',
    offences: (file) => {
      const firstWord = IS_PAGE.test(file.path) ? PAGE_FIRST_WORD : FIRST_WORD
      return sentences(file).filter(({ words }) => firstWord.test(words))
    },
    bad: comment('What a claim holds its document by.'),
    good: comment('Lease of a claim.'),
  },
  'sentence length': {
    advice: `write at most ${LONGEST_SENTENCE.comment} words a sentence, ${LONGEST_SENTENCE.page} on a page`,
    offences: (file) => {
      const { comment, page, spanish } = LONGEST_SENTENCE
      const longest = IS_SPANISH.test(file.path) ? spanish : IS_PAGE.test(file.path) ? page : comment
      return sentences(file).filter(({ words }) => countWords(words) > longest)
    },
    bad: comment(
      'Counts the rows of a table that were written after the last run of the job and before the next one was due to begin its work.',
    ),
    good: comment(
      'Counts the rows of a table. Rows of the last run alone count, for others were counted before it.',
    ),
  },
  'private verb': {
    advice: 'use the verb of the field: log, notify, query, poll, cache, lock, store, return',
    offences: (file) => sentences(file).filter(({ words }) => PRIVATE_VERB.test(words)),
    bad: comment('Asks the database what it says.'),
    good: comment('Queries the database.'),
  },
  'vague condition': {
    advice: 'write the number or the condition',
    offences: (file) => sentences(file).filter(({ words }) => VAGUE.test(words)),
    bad: comment('Waits for so many seconds.'),
    good: comment('Waits for 5 seconds.'),
  },
  'name ends in a preposition': {
    advice: 'name it by a noun, or by a verb and a noun',
    offences: (file) =>
      declarations(file).filter(({ words }) => PREPOSITION.test(words) && !FIELD_NAME.test(words)),
    bad: { path: 'example.ts', text: 'const placeOf = 1\n' },
    good: { path: 'example.ts', text: 'const asOf = storageConfig\n' },
  },
  'name is a participle': {
    advice: 'name the noun that it stands for',
    offences: (file) => declarations(file).filter(({ words }) => PARTICIPLE.test(words)),
    bad: { path: 'example.ts', text: 'const told = 1\n' },
    good: { path: 'example.ts', text: 'const serverTime = 1\n' },
  },
  'name has a private prefix': {
    advice: 'write cached, stored, requested or the noun',
    offences: (file) => declarations(file).filter(({ words }) => PRIVATE_PREFIX.test(words)),
    bad: { path: 'example.ts', text: 'type KeptContent = string\n' },
    good: { path: 'example.ts', text: 'type StoredBlob = string\n' },
  },
  'test title': {
    advice: 'name the subject and what it does',
    offences: ({ path, text }) =>
      IS_TEST.test(path)
        ? [...text.matchAll(TITLE)]
            .map(({ index, 2: words = '' }) => ({ line: lineNumber(text, index), words }))
            .filter(({ words }) => FIRST_WORD.test(words) || PRIVATE_VERB.test(words))
        : [],
    bad: { path: 'example.test.ts', text: "test('what is no place for a set is refused', () => {})\n" },
    good: { path: 'example.test.ts', text: "test('`backup create` refuses a full directory', () => {})\n" },
  },
}

/** Text of a comment as a file, for the examples of rules. */
function comment(text: string): ProseFile {
  return { path: 'example.ts', text: `// ${text}\n` }
}

/** Sentences of the comments of a program or of a page of text. */
function sentences(file: ProseFile): Offence[] {
  return paragraphs(file).flatMap(({ line, text }) => {
    const plain = text.replaceAll(/`[^`]*`/g, '`code`').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    return plain
      .split(/(?<=[.?!])\s+(?=[A-Z`*“"(¿¡])| · /)
      .map((words) => ({ line, words: words.trim() }))
      .filter(({ words }) => /[a-z]/i.test(words))
  })
}

type Paragraph = { line: number; text: string }

function paragraphs({ path, text }: ProseFile): Paragraph[] {
  if (IS_PAGE.test(path)) return paragraphsOfPage(text)
  const isSql = path.endsWith('.sql')
  if (!isSql && !IS_CODE.test(path)) return []
  const result: Paragraph[] = []
  let open: Paragraph | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const words = isSql ? /(?:^|\s)--\s?(.*)$/.exec(line)?.[1] : commentText(line)
    const isWhole = /^\s*(\/\/|\/?\*|--)/.test(line)
    if (words === undefined || words.trim() === '' || words.startsWith('@') || /^(biome|@ts)-/.test(words)) {
      open = undefined
      continue
    }
    if (open && isWhole && !isSqlColumn(isSql, line)) open.text += ` ${words.trim()}`
    else {
      const paragraph = { line: index + 1, text: words.trim() }
      result.push(paragraph)
      open = isWhole ? paragraph : undefined
    }
  }
  return result
}

function isSqlColumn(isSql: boolean, line: string): boolean {
  return isSql && !/^\s*--/.test(line)
}

/** Text of the comment on a line of a program, without its signs. */
function commentText(line: string): string | undefined {
  const whole = /^\s*(?:\/\/|\/\*\*?|\*(?!\/))\s?(.*?)\s*(?:\*\/)?$/.exec(line)
  if (whole) return whole[1]
  const bare = line.replaceAll(STRINGS, (one) => '_'.repeat(one.length))
  return /[^:/]\s\/\/ (.*)$/.exec(bare)?.[1]
}

/** Paragraphs and items of Markdown, without headings, code and tables. */
function paragraphsOfPage(text: string): Paragraph[] {
  const result: Paragraph[] = []
  let open: Paragraph | undefined
  let isCode = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const isText = !isCode && !/^\s*(```|#|\||<|$)/.test(line) && !/^ {4}/.test(line)
    if (!isText) {
      open = undefined
      continue
    }
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)$/.exec(line)
    if (open && !item) open.text += ` ${line.trim()}`
    else {
      open = { line: index + 1, text: item?.[1] ?? line.trim() }
      result.push(open)
    }
  }
  return result
}

function declarations({ path, text }: ProseFile): Offence[] {
  if (!IS_CODE.test(path)) return []
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(line)) return []
    return [...line.replaceAll(STRINGS, "''").matchAll(DECLARATION)].map(([, words = '']) => ({
      line: index + 1,
      words,
    }))
  })
}

function countWords(words: string): number {
  return words.split(/\s+/).filter((word) => /[\p{L}\d]/u.test(word)).length
}

function lineNumber(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
