import type { LinkTexts } from './es-link.ts'

export const EN_LINK: LinkTexts = {
  askTitle: (name) => `Sign in as “${name}”?`,
  askKey: 'This key opens exchange rates and status.',
  askToken: (company) => `This token opens the documents of ${company}.`,
  askReplaces: (name) => `It replaces the open session of “${name}”.`,
  askCare: 'Accept only if you asked for this link yourself.',
  cancel: 'Do not sign in',
  codeGone: 'This link was used already, or is too old. Ask for another with “cambista web”.',
}
