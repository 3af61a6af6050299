// What says how easily a password is guessed, for host/people/strength.
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'

const guesser = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

globalThis.guesses = (password, words) => guesser.check(password, JSON.parse(words)).score
