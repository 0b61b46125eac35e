"""Every method and its peers from 10K to 10M nodes, side by side: seconds, memory, scores, growth, and the floor.

Graphs are planted: clusters of equal size, three groups whose shares (.6, .2, .2) rotate with the cluster, mean degree
20, a fifth of the edge ends leading out, nodes shuffled; and Pokec-n. Each method runs on each graph in a process of
its own, under the same limits of time, address space and cores. What counts is the time of the method alone, the best
of up to three runs where these are short; making the graph object of its library is timed apart. A run that is
interrupted goes on where it stopped: finished rows with the same settings are used again, and the table says so.
"""
