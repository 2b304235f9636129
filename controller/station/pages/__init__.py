"""What people look at: the pages that the daemon serves to browsers at the station.

A page is a view: it is pushed the newest picture, and its presses are the commands of the bus, taken by the
same way in. Nothing of the table is decided here, and nothing that a page does, or leaves undone, holds the
table up: what is sent to a page is never queued beyond the newest picture.
"""
