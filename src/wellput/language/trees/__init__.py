"""Dependency trees and constituents: their heads, grammars, supertags and drawings."""
