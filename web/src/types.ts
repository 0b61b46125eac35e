// Responses of the JSON API, as described in docs/reference/explore-api.md.

export interface Rule {
  kind: string;
  people: number[];
  says: string;
  broken: number;
  where: number[]; // the clusters in which it is broken
  cluster?: number;
  clusters?: number[];
  bounds?: [number | null, number | null][];
  least?: number;
  most?: number;
  attribute?: string;
  value?: string;
  within?: number;
  own?: boolean; // whether friends are the people wished for
  fewer?: [string, number][]; // exceptions: name and number
  names?: string[]; // of people who may have left
}

export interface Scores {
  even: number | null;
  even_by_attribute: Record<string, number>;
  uneven: number[]; // clusters that could mirror everybody better
  kept: number;
  wished: number;
}

export interface Point {
  even: number;
  kept: number;
}

export interface Alternative {
  even: number | null;
  kept: number;
  labels: number[];
  moved: number | null;
}

export interface Costs {
  rules: { numbers: number[]; wishes: number }[]; // rules that are left out together
  attributes: Record<string, number>;
}

// Side effects of a step.
export interface Change {
  kind: "conflict" | "rule" | "sizes" | "unlocked";
  rule?: Rule;
  name?: string;
}

export interface State {
  revision: number;
  mark: string; // hash of the people
  step: number;
  can_undo: boolean;
  can_redo: boolean;
  what: string;
  labels: number[];
  clusters: string[];
  locked: number[];
  even: string[];
  rules: Rule[];
  scores: Scores | null;
  curve: { points: Point[]; here: number | null; current: boolean };
  alternatives: Alternative[];
  costs: Costs | null;
  stored: boolean;
  changes: Change[];
}

export interface Board {
  title: string;
  mark: string;
  people: string[];
  attributes: Record<string, string[]>;
  columns: Record<string, string[]>; // the values of every column of the sheet
  wishes: number[][];
  directed: boolean;
  mutual: boolean; // only mutual wishes count
  notes: Record<string, string>[]; // by language
  restored: boolean;
  state: State;
}

export interface Option {
  cluster: number;
  here: boolean;
  friends: number[];
  kept: number;
  even: number | null;
  breaks: number[];
  mends: number[];
}

export interface Why {
  who: number;
  locked: boolean;
  options: Option[];
}

export interface Job {
  number: number;
  kind: string;
  status: "running" | "done" | "failed" | "cancelled";
  step: number;
  total: number;
  error: string;
  code: string; // of the error that ended it, with its values
  values: Values;
}

// Values of an error, by name: texts, numbers, rules that contradict each other, or a sentence by language.
export type Values = Record<string, any>;

export interface Refusal {
  error: string;
  code?: string;
  values?: Values;
}

export interface Drawn {
  kind: "people" | "clusters";
  x: number[];
  y: number[];
  links: number[];
}

export interface Column {
  letter: string;
  header: string;
  role: string; // empty if it has to be given
  cells: string[]; // the first nonblank ones
}

export interface Understood {
  people: number;
  links?: number;
  wishes: number;
  wishing: number;
  apart: number;
  together: number;
  fixed: number;
  even: { name: string; ranges: number }[];
  shown: string[];
  unused: string[];
}

export interface Preview {
  unknown: { text: string; row: number; column: string; near: string[] }[];
  people: string[]; // everybody an unknown name may mean
  understood: Understood | null;
  number: number;
  notes: Record<string, string>[]; // by language
}

export interface Inspected extends Partial<Refusal> {
  key: string;
  kind: "people" | "links" | "board";
  name: string;
  rows?: string[][];
  columns?: Column[];
  people?: number;
  // Of a sheet given to the command.
  number?: number | null;
  attribute?: string | null;
}

export interface StoredBoard {
  mark: string;
  title: string;
  changed: number;
}

// Source of boards and their actions: the server, or a saved page.
export interface Source {
  live: boolean;
  board(): Promise<Board>;
  state(): Promise<State>;
  act(payload: Record<string, unknown>): Promise<State>;
  graph(): Promise<Drawn>;
}
