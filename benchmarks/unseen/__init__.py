"""Generated graphs that nothing was tuned on: the default search against FairLouvain, long runs and VieClus.

Every seed gives 14 graphs of twelve families (LFR with mixing .3 and .4, random geometric, Holme-Kim, unequal and
degree-corrected blocks, relaxed caves, small worlds, nearest neighbours in blobs, many components, lognormal weights,
Les Miserables), of 50 to 20,000 nodes, with 2 to 6 groups down to 1 % and k from 2 to 60. At every value of the dial
f, ``(1 - f) Q + f NB`` of the default search is compared with FairLouvain's and with the best of long runs of
everything in the box; at f = 0 also with VieClus, at its number of clusters. Times are of the processor, compilation
apart. Judge with seeds that were never run before.
"""
